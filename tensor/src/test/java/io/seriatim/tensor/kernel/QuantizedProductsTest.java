package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.Window;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Products and convolutions of 8-bit integers: sums are exact, and scales and biases follow as post-ops. */
class QuantizedProductsTest {
    private static final long SEED = 20261123;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 4000 : 60;
    private static final PostOp TIMES = new PostOp.Combine(Binary.Function.MULTIPLY);
    private static final PostOp PLUS = new PostOp.Combine(Binary.Function.ADD);
    private static final PostOp RELU = new PostOp.Apply(Unary.Function.RELU, 0, 0);

    /** A computation, and the dimensions of its operands and of the values per channel. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Case(DType activations, long[] x, long[] w, long[] perChannel, long[] result, Computation plain,
            Computation scaled) {
        @Override
        public String toString() {
            return activations + " " + Arrays.toString(x) + " " + Arrays.toString(w) + " " + plain;
        }
    }

    private static Stream<Case> cases() {
        return IntStream.range(0, CASES).mapToObj(i -> {
            SplittableRandom random = new SplittableRandom(SEED + i);
            return i % 2 == 0 ? product(random) : convolution(random);
        });
    }

    private static DType activations(SplittableRandom random) {
        return random.nextBoolean() ? DType.INT8 : DType.UINT8;
    }

    private static Case product(SplittableRandom random) {
        long m = random.nextInt(1, 40);
        long k = random.nextInt(1, 200);
        long n = random.nextInt(1, 70);
        boolean transposed = random.nextBoolean();
        boolean batched = random.nextBoolean();
        long[] x = batched ? new long[]{3, m, k} : new long[]{m, k};
        long[] result = batched ? new long[]{3, m, n} : new long[]{m, n};
        long[] w = transposed ? new long[]{n, k} : new long[]{k, n};
        return new Case(activations(random), x, w, new long[]{n}, result,
                new MatMul(false, transposed, false, List.of()),
                new MatMul(false, transposed, false, List.of(TIMES, PLUS, RELU)));
    }

    private static Case convolution(SplittableRandom random) {
        int groups = random.nextInt(3) == 0 ? random.nextInt(2, 33) : 1;
        long channels = (groups > 1 && random.nextBoolean() ? 1 : random.nextInt(1, 20)) * (long) groups;
        long outputs = (groups > 1 && random.nextBoolean() ? 1 : random.nextInt(1, 20)) * (long) groups;
        int size = random.nextInt(1, 4);
        int stride = random.nextInt(1, 3);
        int pad = random.nextInt(0, size);
        long side = random.nextInt(size, 16);
        Window window = Window.of(2, stride, pad);
        long places = window.places(0, side, size);
        return new Case(activations(random), new long[]{2, channels, side, side},
                new long[]{outputs, channels / groups, size, size}, new long[]{1, outputs, 1, 1},
                new long[]{2, outputs, places, places}, new Convolution(window, groups, false, List.of()),
                new Convolution(window, groups, false, List.of(TIMES, PLUS, RELU)));
    }

    /** All values of the type, its extremes more often. */
    private static Tensor bytes(DType dtype, long seed, long... dims) {
        SplittableRandom random = new SplittableRandom(seed);
        int low = dtype == DType.INT8 ? -128 : 0;
        long[] values = new long[(int) Shape.of(dims).size()];
        for (int i = 0; i < values.length; i++) {
            int kind = random.nextInt(8);
            values[i] = kind == 0 ? low : kind == 1 ? low + 255 : random.nextInt(low, low + 256);
        }
        return Tensor.of(dtype, values, dims);
    }

    private static Tensor floats(long seed, double low, double high, long... dims) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] values = new double[(int) Shape.of(dims).size()];
        Arrays.setAll(values, _ -> random.nextDouble(low, high));
        return Tensor.of(DType.FLOAT32, values, dims);
    }

    private static Tensor run(Kernels kernels, Computation computation, Case one, Tensor... inputs) {
        Tensor out = Tensor.allocate(DType.FLOAT32, one.result());
        KernelRun.into(kernels, computation, new Tensor[]{out}, inputs);
        return out;
    }

    @TestFactory
    Stream<DynamicTest> sumsAreExact() {
        return cases().map(one -> DynamicTest.dynamicTest(one.toString(), () -> {
            Tensor x = bytes(one.activations(), 1, one.x());
            Tensor w = bytes(DType.INT8, 2, one.w());
            Tensor expected = KernelRun.run(Kernels.portable(), one.plain(), cast(x), cast(w))[0];
            assertArrayEquals(expected.toDoubleArray(),
                    run(Kernels.portable(), one.plain(), one, x, w).toDoubleArray());
            assertArrayEquals(expected.toDoubleArray(), run(Kernels.system(), one.plain(), one, x, w).toDoubleArray());
        }));
    }

    @TestFactory
    Stream<DynamicTest> sumsMayBeWholeNumbers() {
        return cases().map(one -> DynamicTest.dynamicTest(one + ", seed " + SEED, () -> {
            Tensor x = bytes(one.activations(), 1, one.x());
            Tensor w = bytes(DType.INT8, 2, one.w());
            Tensor expected = KernelRun.run(Kernels.portable(), one.plain(), cast(x), cast(w))[0];
            for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                Tensor out = Tensor.allocate(DType.INT32, one.result());
                KernelRun.into(kernels, one.plain(), new Tensor[]{out}, x, w);
                assertArrayEquals(expected.toDoubleArray(), out.toDoubleArray());
            }
        }));
    }

    /** Rows of an inner dimension that end within a tile of AMX, with more columns than two tiles. */
    @TestFactory
    Stream<DynamicTest> sumsOfPartsOfTilesAreExact() {
        return IntStream.range(0, CASES).mapToObj(i -> {
            SplittableRandom random = new SplittableRandom(SEED + i);
            long m = random.nextInt(17, 80);
            long k = random.nextInt(65, 260);
            long n = random.nextInt(33, 100);
            MatMul plain = new MatMul(false, random.nextInt(4) == 0, false, List.of());
            return new Case(activations(random), new long[]{m, k},
                    plain.transposeY() ? new long[]{n, k} : new long[]{k, n}, new long[]{n}, new long[]{m, n}, plain,
                    plain);
        }).map(one -> DynamicTest.dynamicTest(one + ", seed " + SEED, () -> {
            Tensor x = bytes(one.activations(), 1, one.x());
            Tensor w = bytes(DType.INT8, 2, one.w());
            assertArrayEquals(KernelRun.run(Kernels.portable(), one.plain(), cast(x), cast(w))[0].toDoubleArray(),
                    run(Kernels.system(), one.plain(), one, x, w).toDoubleArray());
        }));
    }

    /** What is not finite in one row must not reach others, whose last tile reads it. */
    @Test
    void oddNumbersStayInTheirRows() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (DType dtype : List.of(DType.BFLOAT16, DType.FLOAT16, DType.FLOAT32)) {
            for (int k : new int[]{17, 33, 40, 65, 97, 130}) {
                double[] odd = random.doubles(32L * k, -1, 1).toArray();
                for (int row = 0; row < 32; row++) {
                    if (row % 3 != 0) {
                        odd[row * k + random.nextInt(k)] = row % 3 == 1 ? Double.NaN : Double.POSITIVE_INFINITY;
                    }
                }
                Tensor x = Tensor.of(dtype, odd, 32, k);
                Tensor y = Tensor.of(dtype, random.doubles(64L * k, -1, 1).toArray(), k, 64);
                double[] got = KernelRun.run(Kernels.system(), MatMul.PLAIN, x, y)[0].toDoubleArray();
                double[] expected = KernelRun.run(Kernels.portable(), MatMul.PLAIN, x, y)[0].toDoubleArray();
                for (int i = 0; i < got.length; i++) {
                    if (i / 64 % 3 == 0) {
                        assertEquals(expected[i], got[i], 0.1, dtype + ", " + k + " inner, element " + i + ", seed "
                                + SEED);
                    }
                }
            }
        }
    }

    /** 255 · −128, more often than 16 bits hold, and than 32 bits hold. */
    @Test
    void largestSumsKeepTheirLastBits() {
        for (int inner : new int[]{3, 4, 64, 2047, 65_792, 65_793, 70_001}) {
            Tensor x = full(DType.UINT8, 255, 2, inner);
            Tensor w = full(DType.INT8, -128, inner, 17);
            for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                Tensor out = Tensor.allocate(DType.INT32, 2, 17);
                KernelRun.into(kernels, MatMul.PLAIN, new Tensor[]{out}, x, w);
                int sum = (int) (255L * -128 * inner);
                assertTrue(Arrays.stream(out.toLongArray()).allMatch(each -> each == sum), () -> inner + ": " + sum);
            }
        }
        Tensor x = full(DType.UINT8, 255, 1, 70_001, 1, 2);
        Tensor w = full(DType.INT8, -128, 2, 70_001, 1, 1);
        for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
            Tensor out = Tensor.allocate(DType.INT32, 1, 2, 1, 2);
            KernelRun.into(kernels, new Convolution(Window.of(2, 1, 0), 1, false, List.of()), new Tensor[]{out}, x, w);
            int sum = (int) (255L * -128 * 70_001);
            assertTrue(Arrays.stream(out.toLongArray()).allMatch(each -> each == sum), () -> "convolution: " + sum);
        }
    }

    @Test
    void sumsOfNothingAreZero() {
        for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
            Tensor out = full(DType.INT32, 7, 3, 2);
            KernelRun.into(kernels, MatMul.PLAIN, new Tensor[]{out}, Tensor.allocate(DType.UINT8, 3, 0),
                    Tensor.allocate(DType.INT8, 0, 2));
            assertTrue(Arrays.stream(out.toLongArray()).allMatch(each -> each == 0));
            KernelRun.into(kernels, MatMul.PLAIN, new Tensor[]{Tensor.allocate(DType.INT32, 0, 2)},
                    Tensor.allocate(DType.UINT8, 0, 4), Tensor.allocate(DType.INT8, 4, 2));
        }
    }

    private static Tensor full(DType dtype, long value, long... dims) {
        long[] values = new long[(int) Shape.of(dims).size()];
        Arrays.fill(values, value);
        return Tensor.of(dtype, values, dims);
    }

    /** Those of int32 themselves are computed in 32 bits, too. */
    @Test
    void productsOfInt32KeepTheirLastBits() {
        SplittableRandom random = new SplittableRandom(SEED);
        long[] x = random.longs(5 * 300, Integer.MIN_VALUE, Integer.MAX_VALUE).toArray();
        long[] y = random.longs(300 * 7, Integer.MIN_VALUE, Integer.MAX_VALUE).toArray();
        long[] expected = new long[5 * 7];
        for (int i = 0; i < expected.length; i++) {
            long sum = 0;
            for (int p = 0; p < 300; p++) {
                sum += x[i / 7 * 300 + p] * y[p * 7 + i % 7];
            }
            expected[i] = (int) sum;
        }
        Tensor out = KernelRun.run(Kernels.portable(), MatMul.PLAIN, Tensor.of(DType.INT32, x, 5, 300),
                Tensor.of(DType.INT32, y, 300, 7))[0];
        assertArrayEquals(expected, out.toLongArray());
    }

    private static Tensor cast(Tensor bytes) {
        return KernelRun.run(Kernels.portable(), new Copy(DType.FLOAT64), bytes)[0];
    }

    @TestFactory
    Stream<DynamicTest> scalesAndBiasesFollow() {
        return cases().map(one -> DynamicTest.dynamicTest(one.toString(), () -> {
            Tensor[] inputs = {bytes(one.activations(), 1, one.x()), bytes(DType.INT8, 2, one.w()),
                    floats(3, 1e-4, 1e-2, one.perChannel()), floats(4, -1, 1, one.perChannel())};
            double[] expected = run(Kernels.portable(), one.scaled(), one, inputs).toDoubleArray();
            double[] actual = run(Kernels.system(), one.scaled(), one, inputs).toDoubleArray();
            double largest = Arrays.stream(expected).map(Math::abs).max().orElse(0);
            for (int i = 0; i < expected.length; i++) {
                assertEquals(expected[i], actual[i], 4e-7 * (largest + 1), "element " + i);
            }
        }));
    }

    /** A number between two levels may be rounded to the other one. */
    @TestFactory
    Stream<DynamicTest> resultsCanBeLevels() {
        return cases().map(one -> DynamicTest.dynamicTest(one.toString(), () -> {
            Tensor[] inputs = {bytes(one.activations(), 1, one.x()), bytes(DType.INT8, 2, one.w()),
                    floats(3, 1e-4, 1e-2, one.perChannel()), floats(4, -1, 1, one.perChannel())};
            double[] numbers = run(Kernels.portable(), one.scaled(), one, inputs).toDoubleArray();
            List<PostOp> postOps = List.of(TIMES, PLUS, RELU, TIMES);
            Computation levels = one.scaled() instanceof MatMul product
                    ? new MatMul(false, product.transposeY(), false, postOps)
                    : convolution((Convolution) one.scaled(), postOps);
            Tensor[] all = Arrays.copyOf(inputs, 5);
            all[4] = Tensor.of(new float[]{2.5f}, 1);
            for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                Tensor out = Tensor.allocate(DType.INT8, one.result());
                KernelRun.into(kernels, levels, new Tensor[]{out}, all);
                double[] found = out.toDoubleArray();
                for (int i = 0; i < found.length; i++) {
                    double exact = Math.clamp(numbers[i] * 2.5, -128, 127);
                    assertEquals(exact, found[i], 0.5 + 1e-4, "element " + i);
                }
            }
        }));
    }

    /** With what is added for each element, as zero points at borders, or each channel, and functions between both. */
    @TestFactory
    Stream<DynamicTest> resultsCanBeShiftedLevels() {
        return cases().map(one -> DynamicTest.dynamicTest(one + ", seed " + SEED, () -> {
            SplittableRandom random = new SplittableRandom(SEED + one.toString().hashCode());
            boolean whole = random.nextBoolean() && one.scaled() instanceof Convolution;
            boolean single = random.nextInt(3) == 0;
            long[] one1 = new long[one.perChannel().length];
            Arrays.fill(one1, 1);
            List<Tensor> inputs = new ArrayList<>(List.of(bytes(one.activations(), 1, one.x()),
                    bytes(DType.INT8, 2, one.w()), floats(3, 1e-4, 3e-2, single ? one1 : one.perChannel()),
                    floats(4, -200, 300, whole ? one.result() : one.perChannel())));
            List<PostOp> postOps = new ArrayList<>(List.of(TIMES, PLUS));
            if (random.nextBoolean()) {
                postOps.addAll(List.of(new PostOp.Apply(Unary.Function.LEAKY_RELU, 0.1f, 0), TIMES, PLUS));
                inputs.addAll(List.of(floats(5, 0.1, 2, one1), floats(6, -100, 100, one1)));
            }
            Computation shifted = one.scaled() instanceof MatMul product
                    ? new MatMul(false, product.transposeY(), false, postOps)
                    : convolution((Convolution) one.scaled(), postOps);
            double[] numbers = run(Kernels.portable(), shifted, one, inputs.toArray(Tensor[]::new)).toDoubleArray();
            for (DType levels : QuantizedOperands.TYPES) {
                for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                    Tensor out = Tensor.allocate(levels, one.result());
                    KernelRun.into(kernels, shifted, new Tensor[]{out}, inputs.toArray(Tensor[]::new));
                    double[] found = out.toDoubleArray();
                    double least = levels == DType.INT8 ? -128 : 0;
                    for (int i = 0; i < found.length; i++) {
                        double exact = Math.clamp(numbers[i], least, least + 255);
                        assertEquals(exact, found[i], 0.5 + 1e-3, levels + ", element " + i);
                    }
                }
            }
        }));
    }

    private static Convolution convolution(Convolution other, List<PostOp> postOps) {
        return new Convolution(other.window(), other.groups(), false, postOps);
    }

    @Test
    void packedWeightsGiveTheSameSums() {
        FastKernels.needsTheLibrary();
        Tensor x = bytes(DType.INT8, 1, 2, 16, 9, 9);
        Tensor w = bytes(DType.INT8, 2, 32, 16, 3, 3);
        Convolution convolution = new Convolution(Window.of(2, 1, 1), 1, false, List.of());
        Tensor expected = Tensor.allocate(DType.FLOAT32, 2, 32, 9, 9);
        TensorSpec wanted;
        try (Kernel kernel = Kernels.system().prepare(convolution, Place.CPU, x.spec(), w.spec(), expected.spec())) {
            kernel.run(new Tensor[]{x, w, expected}, KernelContext.current());
            wanted = kernel.preferred(1, w.spec());
        }
        assertTrue(wanted.layout() instanceof Layout.Opaque, () -> "packed weights, but " + wanted);
        Tensor packed = Tensor.allocate(Devices.system().host(), wanted);
        KernelRun.into(Kernels.system(), Copy.PLAIN, new Tensor[]{packed}, w);
        Tensor actual = Tensor.allocate(DType.FLOAT32, 2, 32, 9, 9);
        KernelRun.into(Kernels.system(), convolution, new Tensor[]{actual}, x, packed);
        assertArrayEquals(expected.toFloatArray(), actual.toFloatArray());
    }

    @Test
    void otherTypesOfResultsAreRefused() {
        Tensor x = bytes(DType.INT8, 1, 4, 4);
        Tensor out = Tensor.allocate(DType.INT8, 4, 4);
        assertThrows(NoKernelException.class,
                () -> KernelRun.into(Kernels.system(), MatMul.PLAIN, new Tensor[]{out}, x, x));
    }
}

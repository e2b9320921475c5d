package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.OneHot;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.Scatter;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class KernelsTest {
    static Stream<Kernels> registries() {
        return Stream.of(Kernels.portable(), Kernels.system());
    }

    private static Tensor numbers(long... dims) {
        SplittableRandom random = new SplittableRandom(3);
        return Tensor.of(DType.FLOAT32, random.doubles(Shape.of(dims).size(), -1, 1).toArray(), dims);
    }

    @Test
    void aMissingKernelListsThoseThereAre() {
        TensorSpec bools = TensorSpec.of(DType.BOOL, 2, 2);
        NoKernelException e = assertThrows(NoKernelException.class,
                () -> Kernels.system().prepare(MatMul.PLAIN, Place.CPU, bools, bools, bools));
        String message = String.valueOf(e.getMessage());
        assertTrue(message.contains("'matmul' for bool at cpu") && message.contains("portable for float32, float64")
                && message.contains("Cast"), message);
        NoKernelException place = assertThrows(NoKernelException.class,
                () -> Kernels.portable().prepare(MatMul.PLAIN, Place.parse("cuda:0"), bools, bools, bools));
        assertTrue(String.valueOf(place.getMessage()).contains("at cpu"), place.getMessage());
    }

    @Test
    void everyOperationHasAPortableKernel() {
        List<String> portable = Kernels.portable().list().stream().map(Kernels.KernelInfo::operation).toList();
        for (Kernels.KernelInfo info : Kernels.system().list()) {
            assertTrue(portable.contains(info.operation()), info.operation());
        }
    }

    /** Operands that run backwards, skip, repeat or lie across, and results written into such views. */
    @ParameterizedTest
    @MethodSource("registries")
    void viewsGiveWhatDenseOperandsGive(Kernels kernels) {
        Tensor x = numbers(6, 8);
        Tensor across = numbers(8, 6).transpose();
        Tensor backwards = new Tensor(x.buffer(), 4L * 47,
                new TensorSpec(DType.FLOAT32, Shape.of(6, 8), Layout.strided(-8, -1)));
        Tensor repeated = x.select(0, 2).expand(Shape.of(6, 8));
        for (Tensor view : List.of(x.slice(1, 0, 8), across, backwards, repeated)) {
            Tensor dense = Tensor.of(view.toFloatArray(), 6, 8);
            for (Computation computation : List.of(Unary.of(Unary.Function.TANH), Unary.of(Unary.Function.RELU),
                    new Softmax(0, false),
                    new Reduction(Reduction.Function.SUM, List.of(0), false),
                    Copy.PLAIN, new Copy(DType.BFLOAT16), new Scan(1, false, false), new TopK(2, 0, true))) {
                Tensor expected = KernelRun.run(kernels, computation, dense)[0];
                Tensor got = KernelRun.run(kernels, computation, view)[0];
                assertArrayEquals(expected.toFloatArray(), got.toFloatArray(), 1e-6f, computation + " of " + view);
            }
            Tensor product = KernelRun.run(kernels, new MatMul(false, true, false, List.of()), view, dense)[0];
            assertArrayEquals(
                    KernelRun.run(kernels, new MatMul(false, true, false, List.of()), dense, dense)[0].toFloatArray(),
                    product.toFloatArray(), 1e-5f);
            Tensor out = Tensor.of(new float[96], 6, 16);
            KernelRun.into(kernels, Binary.of(Binary.Function.ADD), new Tensor[]{out.slice(1, 3, 11)}, view, dense);
            assertArrayEquals(KernelRun.run(kernels, Binary.of(Binary.Function.ADD), dense, dense)[0].toFloatArray(),
                    out.slice(1, 3, 11).toFloatArray(), 0);
            assertEquals(0, out.slice(1, 0, 3).toFloatArray()[4]);
        }
    }

    @ParameterizedTest
    @MethodSource("registries")
    void oneKernelRunsOnManyThreads(Kernels kernels) throws InterruptedException {
        Computation computation = new MatMul(false, false, true, List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0)));
        Tensor w = numbers(40, 30);
        Tensor bias = numbers(30);
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        try (Kernel kernel = kernels.prepare(computation, Place.CPU, TensorSpec.of(DType.FLOAT32, 20, 40), w.spec(),
                bias.spec(),
                TensorSpec.of(DType.FLOAT32, 20, 30))) {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                double scale = t + 1;
                Thread thread = new Thread(() -> {
                    Tensor x = Tensor.of(DType.FLOAT32, new SplittableRandom(4).doubles(800, -scale, scale).toArray(),
                            20, 40);
                    float[] expected = KernelRun.run(kernels, computation, x, w, bias)[0].toFloatArray();
                    Tensor out = Tensor.allocate(DType.FLOAT32, 20, 30);
                    for (int i = 0; i < 500; i++) {
                        kernel.run(new Tensor[]{x, w, bias, out}, KernelContext.current());
                        assertArrayEquals(expected, out.toFloatArray(), 0);
                    }
                });
                thread.setUncaughtExceptionHandler((_, e) -> failures.add(e));
                threads.add(thread);
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertEquals(List.of(), failures);
    }

    @Test
    void weightsInTheLibrarysOwnLayoutGiveTheSame() {
        Assumptions.assumeTrue(OneDnn.status().loaded(), "oneDNN is not there");
        Tensor x = numbers(3, 100);
        Tensor w = numbers(100, 50);
        Tensor plain = KernelRun.run(Kernels.system(), MatMul.PLAIN, x, w)[0];
        try (Kernel kernel = Kernels.system().prepare(MatMul.PLAIN, Place.CPU, x.spec(), w.spec(), plain.spec())) {
            TensorSpec preferred = kernel.preferred(1, w.spec());
            Tensor packed = Tensor.allocate(Devices.system().host(), preferred);
            KernelRun.into(Kernels.system(), Copy.PLAIN, new Tensor[]{packed}, w);
            Tensor out = Tensor.allocate(DType.FLOAT32, 3, 50);
            KernelRun.into(Kernels.system(), MatMul.PLAIN, new Tensor[]{out}, x, packed);
            assertArrayEquals(plain.toFloatArray(), out.toFloatArray(), 1e-5f);
            Tensor back = Tensor.allocate(DType.FLOAT32, 100, 50);
            KernelRun.into(Kernels.system(), Copy.PLAIN, new Tensor[]{back}, packed);
            assertArrayEquals(w.toFloatArray(), back.toFloatArray(), 0);
        }
    }

    /** Runs of few rows go through the weights forwards and backwards in turn. */
    @ParameterizedTest
    @CsvSource({"1, 300, 700", "3, 512, 512", "4, 700, 300", "1, 257, 513"})
    void packedWeightsOfFewRowsGiveTheSame(long rows, long depth, long columns) {
        MatMul withBias = new MatMul(false, false, true, List.of());
        Tensor w = numbers(depth, columns);
        Tensor bias = numbers(columns);
        Tensor out = Tensor.allocate(DType.FLOAT32, rows, columns);
        TensorSpec given = TensorSpec.of(DType.FLOAT32, rows, depth);
        try (Kernel plain = Kernels.system().prepare(withBias, Place.CPU, given, w.spec(), bias.spec(), out.spec())) {
            Tensor packed = Tensor.allocate(Devices.system().host(), plain.preferred(1, w.spec()));
            assertNotEquals(w.spec(), packed.spec());
            KernelRun.into(Kernels.system(), Copy.PLAIN, new Tensor[]{packed}, w);
            try (Kernel kernel = Kernels.system().prepare(withBias, Place.CPU, given, packed.spec(), bias.spec(),
                    out.spec())) {
                for (int run = 0; run < 5; run++) {
                    double[] values = new SplittableRandom(run).doubles(rows * depth, -1, 1).toArray();
                    Tensor x = Tensor.of(DType.FLOAT32, values, rows, depth);
                    out.memory().fill((byte) 0x7f);
                    kernel.run(new Tensor[]{x, packed, bias, out}, KernelContext.current());
                    float[] expected = KernelRun.run(Kernels.portable(), withBias, x, w, bias)[0].toFloatArray();
                    assertArrayEquals(expected, out.toFloatArray(), 2e-6f * depth, "run " + run);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("registries")
    void twoThreadsGiveTheSame(Kernels kernels) {
        Tensor x = numbers(64, 64);
        Tensor out = Tensor.allocate(DType.FLOAT32, 64, 64);
        float[] one = KernelRun.run(kernels, MatMul.PLAIN, x, x)[0].toFloatArray();
        try (Kernel kernel = kernels.prepare(MatMul.PLAIN, Place.CPU, x.spec(), x.spec(), out.spec());
                KernelContext two = new KernelContext(2)) {
            kernel.run(new Tensor[]{x, x, out}, two);
            assertArrayEquals(one, out.toFloatArray(), 1e-5f);
        }
    }

    @ParameterizedTest
    @MethodSource("registries")
    void indicesAreCheckedBeforeAnythingIsWritten(Kernels kernels) {
        Tensor x = numbers(3, 4);
        Tensor out = Tensor.of(new float[8], 2, 4);
        Tensor bad = Tensor.of(new long[]{1, 3}, 2);
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> KernelRun.into(kernels, Gather.of(0), new Tensor[]{out}, x, bad));
        assertTrue(String.valueOf(e.getMessage()).contains("index number 1 must be from 0 to 2, but is 3"),
                e.getMessage());
        assertArrayEquals(new float[8], out.toFloatArray(), 0);
        Tensor labels = Tensor.of(new long[]{0, 9, 1}, 3, 1);
        IllegalArgumentException label = assertThrows(IllegalArgumentException.class,
                () -> KernelRun.run(kernels, new CrossEntropy(1, false, -100), x, labels));
        assertTrue(
                String.valueOf(label.getMessage()).contains("row 1")
                        && String.valueOf(label.getMessage()).contains("9"),
                label.getMessage());
    }

    @Test
    void scattersAsTheyShould() {
        Kernels kernels = Kernels.portable();
        Tensor x = Tensor.of(new float[]{1, 1, 1, 1, 1, 1}, 3, 2);
        Tensor indices = Tensor.of(new long[]{2, 0, 2}, 3);
        Tensor updates = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 3, 2);
        assertArrayEquals(new float[]{3, 4, 1, 1, 5, 6},
                KernelRun.run(kernels, new Scatter(true), x, indices, updates)[0].toFloatArray());
        assertArrayEquals(new float[]{3, 4, 1, 1, 6, 8},
                KernelRun.run(kernels, new Scatter(false), x, indices, updates)[0].toFloatArray());
        Tensor tuples = Tensor.of(new long[]{0, 1, 2, 0, 0, 1}, 3, 2);
        Tensor values = Tensor.of(new float[]{10, 20, 30}, 3);
        assertArrayEquals(new float[]{1, 41, 1, 1, 21, 1},
                KernelRun.run(kernels, new ScatterNd(ScatterNd.Function.ADD), x, tuples, values)[0].toFloatArray());
        assertArrayEquals(new float[]{1, 30, 1, 1, 20, 1}, KernelRun
                .run(kernels, new ScatterNd(ScatterNd.Function.ASSIGN), x, tuples, values)[0].toFloatArray());
        assertArrayEquals(new float[]{1, 300, 1, 1, 20, 1}, KernelRun
                .run(kernels, new ScatterNd(ScatterNd.Function.MULTIPLY), x, tuples, values)[0].toFloatArray());
        Tensor extreme = Tensor.of(new float[]{-3, Float.NaN, 0.5f}, 3);
        assertArrayEquals(new float[]{1, 1, 1, 1, Float.NaN, 1}, KernelRun
                .run(kernels, new ScatterNd(ScatterNd.Function.MAXIMUM), x, tuples, extreme)[0].toFloatArray());
        assertArrayEquals(new float[]{1, -3, 1, 1, Float.NaN, 1}, KernelRun
                .run(kernels, new ScatterNd(ScatterNd.Function.MINIMUM), x, tuples, extreme)[0].toFloatArray());
        Tensor unsigned = Tensor.of(DType.UINT64, new long[]{-1, 5}, 2);
        assertArrayEquals(new long[]{-1, 7}, KernelRun.run(kernels, new ScatterNd(ScatterNd.Function.MAXIMUM),
                unsigned, Tensor.of(new long[]{0, 1}, 2, 1), Tensor.of(DType.UINT64, new long[]{3, 7}, 2))[0]
                .toLongArray());
        Tensor rows = Tensor.of(new long[]{1, 1}, 2, 1);
        assertArrayEquals(new float[]{1, 1, 3, 4, 1, 1}, KernelRun.run(kernels,
                new ScatterNd(ScatterNd.Function.ASSIGN), x, rows, Tensor.of(new float[]{1, 2, 3, 4}, 2, 2))[0]
                .toFloatArray());
        assertArrayEquals(new float[]{2, 5, 2},
                KernelRun.run(kernels, new GatherNd(), updates, tuples)[0].toFloatArray());
        assertArrayEquals(new long[]{0, 0, 1, 1, 0, 0, 0, 0, 1},
                KernelRun.run(kernels, new OneHot(3, DType.INT32), indices)[0].toLongArray());
        Tensor square = Tensor.of(new float[]{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3);
        assertArrayEquals(new float[]{1, 2, 3, 0, 5, 6, 0, 0, 9},
                KernelRun.run(kernels, new Triangle(true, 0), square)[0].toFloatArray());
        assertArrayEquals(new float[]{0, 0, 0, 4, 0, 0, 7, 8, 0},
                KernelRun.run(kernels, new Triangle(false, -1), square)[0].toFloatArray());
    }

    @Test
    void fillsViewsOfEveryType() {
        for (DType dtype : DType.values()) {
            for (double value : new double[]{0, -0.0, 1, 2.75, -3}) {
                for (Tensor whole : List.of(Tensor.of(dtype, new double[0], 0, 3), Tensor.of(dtype, new double[]{5}),
                        Tensor.of(dtype, new double[3000], 3000), Tensor.of(dtype, new double[6], 2, 3))) {
                    KernelRun.into(Kernels.system(), new Fill(value), new Tensor[]{whole});
                    double[] expected = new double[(int) whole.shape().size()];
                    Arrays.fill(expected, value);
                    String what = value + " in " + whole.spec();
                    assertArrayEquals(Tensor.of(dtype, expected, whole.shape().dims()).toDoubleArray(),
                            whole.toDoubleArray(), what);
                }
                Tensor grid = Tensor.of(dtype, new double[]{1, 1, 1, 1, 1, 1}, 2, 3);
                KernelRun.into(Kernels.system(), new Fill(value), new Tensor[]{grid.slice(1, 1, 2)});
                double stored = Tensor.of(dtype, new double[]{value}).toDoubleArray()[0];
                assertArrayEquals(new double[]{1, stored, 1, 1, stored, 1}, grid.toDoubleArray(),
                        value + " in a column of " + dtype);
            }
        }
    }
}

package io.seriatim.tensor.kernel;

import static io.seriatim.tensor.kernel.FastKernels.FLOATS;
import static io.seriatim.tensor.kernel.FastKernels.SEED;
import static io.seriatim.tensor.kernel.FastKernels.compare;
import static io.seriatim.tensor.kernel.FastKernels.dims;
import static io.seriatim.tensor.kernel.FastKernels.ordinary;
import static io.seriatim.tensor.kernel.FastKernels.random;
import static io.seriatim.tensor.kernel.FastKernels.special;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.kernel.FastKernels.Case;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Normalisations, poolings and sums by the kernels that are used, against the portable ones. */
class FastNormalisationsTest {
    @BeforeAll
    static void needsTheLibrary() {
        FastKernels.needsTheLibrary();
    }

    static Stream<Case> normalisations() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (boolean log : new boolean[]{false, true}) {
                for (int axis : new int[]{0, 1, -1}) {
                    cases.add(new Case("softmax " + axis + log, new Softmax(axis, log), dtype, dims(3, 13, 7)));
                    cases.add(
                            new Case("softmax gradient " + axis + log, new SoftmaxGrad(axis, log), dtype,
                                    dims(3, 13, 7), dims(3, 13, 7)));
                }
            }
            Pooling.Kind[] kinds = Pooling.Kind.values();
            for (Pooling.Kind kind : kinds) {
                Pooling pooling = new Pooling(kind, List.of(3L, 2L),
                        Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{1, 1}, new int[]{1, 1}));
                cases.add(new Case("pooling " + kind, pooling, dtype, dims(2, 3, 9, 8)));
                cases.add(new Case("pooling gradient " + kind, new PoolingGrad(pooling), dtype, dims(2, 3, 9, 8),
                        dims(2, 3, 5, 8),
                        dims(2, 3, 5, 8)));
                cases.add(new Case("global pooling " + kind, new Pooling(kind, List.of(7L, 7L), Window.of(2, 1, 0)),
                        dtype,
                        dims(2, 16, 7, 7)));
                cases.add(new Case("adaptive pooling " + kind, new AdaptivePooling(kind, List.of(3L, 4L)), dtype,
                        dims(2, 3, 7, 7)));
            }
        }
        cases.add(new Case("layer norm", new LayerNorm(1, 1e-5f, true, true), DType.FLOAT32, dims(5, 13, 7),
                dims(13, 7), dims(91)));
        cases.add(new Case("layer norm alone", new LayerNorm(-1, 1e-5f, false, false), DType.FLOAT32, dims(5, 13)));
        cases.add(new Case("layer norm gradient", new LayerNormGrad(new LayerNorm(1, 1e-5f, true, true)), DType.FLOAT32,
                dims(5, 91),
                dims(5, 91), dims(91), dims(5), dims(-5, 5)));
        cases.add(
                new Case("batch norm", new BatchNorm(1e-5f, true), DType.FLOAT32, dims(4, 3, 5, 6), dims(3), dims(3)));
        // A tile has 1024 elements: images of less, of more, of parts of one and of several.
        for (long[] image : new long[][]{dims(11, 5, 3, 2), dims(3, 300, 2, 2), dims(17, 3, 9, 9), dims(2, 3, 40, 40),
                dims(9, 2),
                dims(2, 1500, 1)}) {
            String of = " of " + Shape.of(image);
            long[] channel = dims(image[1]);
            cases.add(new Case("batch norm" + of, new BatchNorm(1e-5f, true), DType.FLOAT32, image, channel, channel));
            cases.add(new Case("batch norm gradient" + of, new BatchNormGrad(new BatchNorm(1e-5f, true)), DType.FLOAT32,
                    image, image,
                    channel, channel, dims(-5, image[1])));
        }
        // Windows side by side.
        Pooling pairs = new Pooling(Pooling.Kind.MAX, List.of(2L, 2L), Window.of(2, 2, 0));
        for (long[] half : new long[][]{dims(1, 1, 1, 1), dims(2, 3, 5, 4), dims(3, 2, 7, 13), dims(1, 2, 3, 341),
                dims(1, 1, 2, 342),
                dims(5, 7, 12, 12)}) {
            long[] image = dims(half[0], half[1], 2 * half[2], 2 * half[3]);
            for (DType dtype : FLOATS) {
                cases.add(new Case("pooling to " + Shape.of(half), pairs, dtype, image));
                cases.add(new Case("pooling gradient from " + Shape.of(half), new PoolingGrad(pairs), dtype, image,
                        half, half));
            }
        }
        cases.add(new Case("batch norm at inference", new BatchNorm(1e-5f, false), DType.FLOAT32, dims(4, 16, 5, 6),
                dims(16), dims(16),
                dims(16), dims(-5, 16)));
        cases.add(new Case("batch norm gradient", new BatchNormGrad(new BatchNorm(1e-5f, true)), DType.FLOAT32,
                dims(4, 3, 5, 6),
                dims(4, 3, 5, 6), dims(3), dims(3), dims(-5, 3)));
        // A piece has 1024 elements, and a sum eight: groups of less, more, many pieces, and channels across pieces.
        for (long[] image : new long[][]{dims(2, 6, 4, 5), dims(1, 12, 32, 32), dims(3, 6, 1025), dims(1, 6, 90, 100),
                dims(2, 1500, 1), dims(2, 6)}) {
            for (int groups : new int[]{1, 2, 6}) {
                long[] channel = dims(image[1]);
                String of = groups + " groups of " + Shape.of(image);
                cases.add(new Case("group norm of " + of, new GroupNorm(groups, 1e-5f, true, true), DType.FLOAT32,
                        image, channel, channel));
                cases.add(new Case("group norm alone of " + of, new GroupNorm(groups, 1e-5f, false, false),
                        DType.FLOAT32, image));
            }
        }
        return cases.stream();
    }

    /** Of a tensor with more channels than it has, and pixels of these channels next to each other. */
    private static Tensor channelsLast(Tensor x, int between) {
        long[] dims = x.shape().dims();
        long[] inMemory = new long[dims.length];
        int[] axes = new int[dims.length];
        for (int i = 0; i < dims.length; i++) {
            axes[i] = i == 0 ? 0 : i == 1 ? dims.length - 1 : i - 1;
            inMemory[axes[i]] = dims[i];
        }
        inMemory[dims.length - 1] += between;
        Tensor all = Tensor.allocate(x.dtype(), inMemory);
        Tensor turned = all.slice(-1, between, inMemory[dims.length - 1]).transpose(axes);
        TensorSpec[] specs = {x.spec(), turned.spec()};
        Kernels.system().prepare(Copy.PLAIN, Place.CPU, specs).run(new Tensor[]{x, turned}, KernelContext.current());
        return turned;
    }

    @ParameterizedTest
    @CsvSource({"2,6,4,5,2,0", "1,12,32,32,12,0", "3,6,1025,1,3,5", "1,6,90,100,1,0", "2,1500,2,2,6,0",
            "1,2100,3,1,7,3",
            "1,32,7,9,32,11", "4,1024,3,3,1,0", "2,8,1,1,4,0"})
    void groupsOfImagesWithChannelsLast(int images, int channels, int height, int width, int groups, int between) {
        for (boolean affine : new boolean[]{true, false}) {
            GroupNorm norm = new GroupNorm(groups, 1e-5f, affine, affine);
            Tensor x = FastKernels.random(DType.FLOAT32, channels, dims(images, channels, height, width));
            Tensor scale = FastKernels.random(DType.FLOAT32, 1, dims(channels));
            Tensor bias = FastKernels.random(DType.FLOAT32, 2, dims(channels));
            List<Tensor> inputs = affine ? List.of(x, scale, bias) : List.of(x);
            TensorSpec[] out = norm.infer(inputs.stream().map(Tensor::spec).toArray(TensorSpec[]::new));
            List<Tensor> expected = new ArrayList<>(inputs);
            List<Tensor> found = new ArrayList<>(inputs);
            found.set(0, channelsLast(x, between));
            for (TensorSpec spec : out) {
                expected.add(Tensor.allocate(spec.dtype(), spec.shape().dims()));
                found.add(Tensor.allocate(spec.dtype(), spec.shape().dims()));
            }
            found.set(inputs.size(), channelsLast(found.get(inputs.size()), between + 1));
            for (List<Tensor> each : List.of(expected, found)) {
                Kernel kernel = Kernels.system().prepare(norm, Place.CPU,
                        each.stream().map(Tensor::spec).toArray(TensorSpec[]::new));
                assertEquals("java", kernel.provider());
                kernel.run(each.toArray(Tensor[]::new), KernelContext.current());
            }
            for (int i = inputs.size(); i < found.size(); i++) {
                assertArrayEquals(expected.get(i).toFloatArray(), found.get(i).toFloatArray(), 2e-5f,
                        "result " + (i - inputs.size()));
            }
        }
    }

    /** Sums that leave the range of float32 are repeated in double; NaN stays in its group. */
    @Test
    void largeNumbersAndNanOfImagesWithChannelsLast() {
        GroupNorm norm = new GroupNorm(2, 0, false, false);
        float[] given = new float[3000];
        for (int i = 0; i < 1500; i++) {
            given[i] = i % 2 == 0 ? 3e25f : 1e25f;
            given[1500 + i] = i == 7 ? Float.NaN : i;
        }
        Tensor x = channelsLast(Tensor.of(given, 1, 2, 1500), 0);
        Tensor y = channelsLast(Tensor.allocate(DType.FLOAT32, 1, 2, 1500), 0);
        Tensor[] all = {x, y, Tensor.allocate(DType.FLOAT32, 1, 2), Tensor.allocate(DType.FLOAT32, 1, 2)};
        TensorSpec[] specs = Arrays.stream(all).map(Tensor::spec).toArray(TensorSpec[]::new);
        Kernels.system().prepare(norm, Place.CPU, specs).run(all, KernelContext.current());
        float[] found = y.toFloatArray();
        for (int i = 0; i < 1500; i++) {
            assertEquals(i % 2 == 0 ? 1 : -1, found[i], 1e-6f, "element " + i);
            assertTrue(Float.isNaN(found[1500 + i]), "element " + (1500 + i) + " is " + found[1500 + i]);
        }
        assertEquals(2e25f, all[2].toFloatArray()[0], 1e19f);
    }

    /** Squares of 1e25 are beyond float32; those of equal numbers are 0, without an epsilon too. */
    @Test
    void groupsOfLargeAndOfEqualNumbersAreNormalised() {
        TensorSpec x = TensorSpec.of(DType.FLOAT32, 1, 2, 1500);
        GroupNorm norm = new GroupNorm(2, 0, false, false);
        TensorSpec[] out = norm.infer(x);
        TensorSpec[] specs = {x, out[0], out[1], out[2]};
        float[] given = new float[3000];
        for (int i = 0; i < 1500; i++) {
            given[i] = i % 2 == 0 ? 3e25f : 1e25f;
            given[1500 + i] = 0.1f;
        }
        Tensor[] all = {Tensor.of(given, 1, 2, 1500), Tensor.allocate(DType.FLOAT32, 1, 2, 1500),
                Tensor.allocate(DType.FLOAT32, 1, 2), Tensor.allocate(DType.FLOAT32, 1, 2)};
        Kernels.system().prepare(norm, Place.CPU, specs).run(all, KernelContext.current());
        float[] found = all[1].toFloatArray();
        for (int i = 0; i < 1500; i++) {
            assertEquals(i % 2 == 0 ? 1 : -1, found[i], 1e-6f, "element " + i);
        }
        assertEquals(2e25f, all[2].toFloatArray()[0], 1e19f);
        assertTrue(all[3].toFloatArray()[1] >= 0, "the variance of equal numbers is " + all[3]);
    }

    static Stream<Case> reductions() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (Reduction.Function function : Reduction.Function.values()) {
                for (List<Integer> axes : List.of(List.<Integer>of(), List.of(0), List.of(1), List.of(-1),
                        List.of(0, 2))) {
                    cases.add(new Case(function + " " + axes, new Reduction(function, axes, false), dtype,
                            dims(3, 13, 7)));
                    cases.add(new Case(function + " large " + axes, new Reduction(function, axes, false), dtype,
                            dims(30, 13, 7)));
                }
                for (long[] shape : new long[][]{dims(9, 3, 11), dims(64, 500), dims(21, 1100), dims(16, 2, 1300)}) {
                    List<Integer> axes = shape.length == 2 ? List.of(0) : List.of(0, 2);
                    cases.add(new Case(function + " of columns of " + Shape.of(shape),
                            new Reduction(function, axes, true), dtype, shape));
                }
                for (long[] shape : new long[][]{dims(3, 65, 40), dims(1, 64, 33), dims(2, 5, 300),
                        dims(2, 130, 1, 17)}) {
                    cases.add(
                            new Case(function + " of rows of " + Shape.of(shape),
                                    new Reduction(function, List.of(1), true), dtype, shape));
                }
                cases.add(new Case(function + " long", new Reduction(function, List.of(), true), dtype, dims(4098)));
                cases.add(new Case(function + " of ones", new Reduction(function, List.of(1, -1), false), dtype,
                        dims(7, 1, 13, 1, 21)));
            }
        }
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource({"normalisations", "reductions"})
    void givesTheSame(Case one) {
        compare(one, ordinary(one));
    }

    /** What a sum can hold it gives, whatever the number of rows, and what is not a number stays in its column. */
    @Test
    void sumsOfColumnsAreExact() {
        for (DType dtype : FLOATS) {
            for (long rows : new long[]{25, 64, 100, 129, 2049, 4160}) {
                for (Reduction.Function function : List.of(Reduction.Function.SUM, Reduction.Function.MEAN)) {
                    double[] values = new double[Math.toIntExact(2 * rows * 41)];
                    for (int i = 0; i < values.length; i++) {
                        // Ones and minus ones that come to less than 16 in a column, and special values at the edges.
                        values[i] = i / 41 % 2 == 0 ? 1 : i % 41 < 32 && i / 41 % 32 != 1 ? -1 : 0;
                    }
                    values[3 * 41] = Double.NaN;
                    values[4 * 41 + 1] = Double.POSITIVE_INFINITY;
                    values[5 * 41 + 2] = Double.NEGATIVE_INFINITY;
                    Tensor x = Tensor.of(dtype, values, 2, rows, 41);
                    Reduction sums = new Reduction(function, List.of(1), false);
                    double[] expected = KernelRun.run(Kernels.portable(), sums, x)[0].toDoubleArray();
                    double[] actual = KernelRun.run(Kernels.system(), sums, x)[0].toDoubleArray();
                    double tolerance = function == Reduction.Function.SUM ? 0 : dtype == DType.FLOAT32 ? 1e-6 : 1e-2;
                    assertArrayEquals(expected, actual, tolerance, function + " of " + rows + " rows of " + dtype);
                }
            }
        }
    }

    /** An addition after the other would lose half of the digits. */
    @Test
    void longSumsOfColumnsKeepTheirDigits() {
        int rows = 200_000;
        float[] values = new float[rows * 3];
        Arrays.fill(values, 0.1f);
        Tensor x = Tensor.of(values, rows, 3);
        double[] sums = KernelRun.run(Kernels.system(), new Reduction(Reduction.Function.SUM, List.of(0), false), x)[0]
                .toDoubleArray();
        double exact = (double) 0.1f * rows;
        assertArrayEquals(new double[]{exact, exact, exact}, sums, 1e-6 * exact);
    }

    /**
     * Images of bfloat16 with scales and statistics of float32: an even number of elements side by side, and an odd
     * one.
     */
    @Test
    void normalisesImagesOfHalves() {
        BatchNorm norm = new BatchNorm(1e-5f, true);
        for (long[] image : new long[][]{dims(11, 5, 3, 2), dims(3, 300, 2, 2), dims(17, 3, 9, 9), dims(2, 3, 40, 40),
                dims(9, 2),
                dims(2, 1500, 2), dims(1, 1, 2), dims(3, 2, 30, 36)}) {
            long[] channel = dims(image[1]);
            Case forward = new Case("batch norm of " + Shape.of(image), norm, DType.BFLOAT16, image, channel, channel);
            compare(forward, withFloatChannels(ordinary(forward)));
            Case grad = new Case("batch norm gradient of " + Shape.of(image), new BatchNormGrad(norm), DType.BFLOAT16,
                    image, image,
                    channel,
                    channel, dims(-5, image[1]));
            compare(grad, withFloatChannels(ordinary(grad)));
        }
    }

    private static Tensor[] withFloatChannels(Tensor[] inputs) {
        Tensor[] all = inputs.clone();
        for (int i = 0; i < all.length; i++) {
            if (all[i].shape().rank() == 1) {
                all[i] = Tensor.of(DType.FLOAT32, all[i].toDoubleArray(), all[i].shape().dims());
            }
        }
        return all;
    }

    /** What is not a number stays within its channel, and comes out as it is. */
    @Test
    void normalisationOfHalvesKeepsSpecialValues() {
        Case one = new Case("batch norm", new BatchNorm(1e-5f, true), DType.BFLOAT16, dims(5, 6, 3, 4), dims(6),
                dims(6));
        for (double special : new double[]{Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            Tensor[] inputs = withFloatChannels(ordinary(one));
            double[] values = inputs[0].toDoubleArray();
            values[17] = special;
            inputs[0] = Tensor.of(DType.BFLOAT16, values, 5, 6, 3, 4);
            compare(one, inputs);
        }
    }

    /** A NaN must not vanish from the images that the library pools. */
    @ParameterizedTest
    @EnumSource(Pooling.Kind.class)
    void poolingKeepsSpecialValues(Pooling.Kind kind) {
        for (DType dtype : List.of(DType.FLOAT32, DType.BFLOAT16)) {
            Case one = new Case("pooling " + kind, new Pooling(kind, List.of(2L, 2L), Window.of(2, 2, 0)), dtype,
                    dims(2, 16, 8, 8));
            compare(one, special(one));
        }
    }

    /** Of equal elements the first has the gradient, and NaN is larger than all. */
    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "BFLOAT16"})
    void gradientOfPoolingGoesToTheFirstLargest(DType dtype) {
        Pooling pairs = new Pooling(Pooling.Kind.MAX, List.of(2L, 2L), Window.of(2, 2, 0));
        Case one = new Case("pooling gradient", new PoolingGrad(pairs), dtype, dims(3, 7, 8, 6));
        SplittableRandom random = new SplittableRandom(SEED);
        double[] few = {0, -0.0, 1, -1, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Float.MIN_VALUE,
                -Float.MIN_VALUE};
        double[] values = random.ints(3 * 7 * 8 * 6, 0, few.length).mapToDouble(i -> few[i]).toArray();
        Tensor x = Tensor.of(dtype, values, 3, 7, 8, 6);
        Tensor dy = random(dtype, 1, dims(3, 7, 4, 3));
        compare(one, x, dy, dy);
        Tensor minusNaN = Tensor.of(dtype,
                new double[]{Double.POSITIVE_INFINITY, 1, 2, Float.intBitsToFloat(0xffc00000)}, 1, 1, 2, 2);
        Tensor single = Tensor.of(dtype, new double[]{5}, 1, 1, 1, 1);
        compare(one, minusNaN, single, single);
        compare(new Case("pooling", pairs, dtype), minusNaN);
    }
}

package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BilinearSamples;
import io.seriatim.tensor.computation.network.BilinearSamplesGradImages;
import io.seriatim.tensor.computation.network.BilinearSamplesGradPlaces;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.LinearResampling;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RoiAlign;
import io.seriatim.tensor.computation.network.RoiAlignGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.computation.network.Update;
import io.seriatim.tensor.computation.network.Window;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What may be computed in parts gives to the bit what the whole gives, with kernels of the same provider. */
class SplitTest {
    private static final long SEED = 20261121;
    private static final Window PLAIN = Window.of(2, 1, 0);
    private static final Window PADDED = Window.of(2, 2, 1);
    private static final List<Kernels> REGISTRIES = List.of(Kernels.portable(), Kernels.system());

    /** Inputs that are left out are null. */
    @SuppressWarnings("ArrayRecordComponent")
    record Case(Computation computation, @Nullable Tensor[] inputs) {
        @Override
        public String toString() {
            return computation + " of "
                    + Arrays.stream(inputs).map(input -> input == null ? "none" : input.shape().toString()).toList();
        }
    }

    private static Tensor numbers(int salt, long... dims) {
        return Tensor.of(DType.FLOAT32,
                new SplittableRandom(SEED + salt).doubles(Shape.of(dims).size(), 0.1, 2).toArray(), dims);
    }

    private static Tensor labels(long rows) {
        return Tensor.of(DType.INT64, new SplittableRandom(SEED).longs(rows, 0, 3).toArray(), rows, 1);
    }

    private static Case of(Computation computation, @Nullable Tensor... inputs) {
        return new Case(computation, inputs);
    }

    private static void regions(List<Case> cases) {
        Tensor regions = Tensor.of(DType.FLOAT32,
                new double[]{0.3, 1, 4.4, 5, -3, 2, 9, 3.1, 1, 1, 1.5, 7, 0, 0, 5, 4}, 4, 4);
        Tensor images = Tensor.of(new long[]{1, 0, 1, 0}, 4);
        RoiAlign align = new RoiAlign(2, 3, 1, 0, true);
        cases.add(of(align, numbers(1, 2, 6, 4, 5), regions, images));
        cases.add(of(new RoiAlignGrad(align, 2, List.of(4L, 5L)), regions, images, numbers(1, 4, 6, 2, 3)));
        Tensor x = numbers(1, 4, 6, 3, 2);
        Tensor places = numbers(2, 4, 2, 10);
        Tensor dy = numbers(3, 4, 6, 10);
        for (Tensor weights : Arrays.asList(null, numbers(4, 4, 10))) {
            cases.add(of(new BilinearSamples(), x, places, weights));
            cases.add(of(new BilinearSamplesGradImages(List.of(3L, 2L)), places, weights, dy));
            cases.add(of(new BilinearSamplesGradPlaces(), x, places, weights, dy));
        }
    }

    private static void recurrences(List<Case> cases) {
        for (Recurrence.Cell cell : Recurrence.Cell.values()) {
            for (boolean lengths : new boolean[]{false, true}) {
                long size = lengths ? 40 : 7;
                List<Tensor> inputs = new ArrayList<>(List.of(numbers(1, 5, 9, cell.gates() * size),
                        numbers(2, cell.products() * size, size), numbers(3, cell.gates() * size),
                        numbers(4, 9, size)));
                if (cell.isLstm()) {
                    inputs.add(numbers(5, 9, size));
                }
                if (cell.hasMore()) {
                    inputs.add(cell.isLstm() ? numbers(6, 3 * size) : numbers(6, size, size));
                }
                if (lengths) {
                    inputs.add(Tensor.of(new long[]{5, 0, 3, 2, 5, 1, 4, 0, 2}, 9));
                }
                cases.add(of(new Recurrence(cell, lengths, lengths), inputs.toArray(Tensor[]::new)));
            }
        }
    }

    static Stream<Case> cases() {
        List<Case> cases = new ArrayList<>();
        recurrences(cases);
        for (Unary.Function function : List.of(Unary.Function.RELU, Unary.Function.TANH, Unary.Function.GELU_ERF,
                Unary.Function.EXP,
                Unary.Function.SIGMOID, Unary.Function.SQRT)) {
            for (long[] dims : new long[][]{{6, 7}, {33, 130}, {5, 3, 17}, {4, 6}}) {
                cases.add(of(Unary.of(function), numbers(1, dims)));
                cases.add(of(UnaryGrad.of(Unary.of(function)), numbers(1, dims), numbers(2, dims), numbers(3, dims)));
            }
        }
        for (Unary.Function function : Unary.Function.values()) {
            cases.add(of(Unary.of(function), numbers(1, 5, 6)));
            cases.add(of(Unary.of(function), numbers(1, 3, 40)));
        }
        for (long[] dims : new long[][]{{4, 6}, {33, 129}, {5, 3, 17}}) {
            cases.add(of(Binary.of(Binary.Function.MULTIPLY), numbers(1, dims), numbers(2, dims)));
            cases.add(of(Binary.of(Binary.Function.ADD), numbers(1, dims), numbers(2, dims[dims.length - 1])));
            cases.add(of(new Softmax(-1, false), numbers(1, dims)));
            cases.add(of(new Softmax(0, true), numbers(1, dims)));
            cases.add(of(new SoftmaxGrad(-1, false), numbers(1, dims), numbers(2, dims)));
            cases.add(of(new LayerNorm(dims.length - 1, 1e-5f, true, true), numbers(1, dims),
                    numbers(2, dims[dims.length - 1]),
                    numbers(3, dims[dims.length - 1])));
            cases.add(of(new LayerNormGrad(new LayerNorm(dims.length - 1, 1e-5f, false, false)), numbers(1, dims),
                    numbers(2, dims),
                    numbers(3, Shape.of(dims).size() / dims[dims.length - 1]),
                    numbers(4, Shape.of(dims).size() / dims[dims.length - 1])));
            for (Reduction.Function function : List.of(Reduction.Function.SUM, Reduction.Function.MEAN,
                    Reduction.Function.MAX)) {
                if (dims.length == 3) {
                    cases.add(of(new Reduction(function, List.of(1), true), numbers(1, dims)));
                }
                cases.add(of(new Reduction(function, List.of(-1), false), numbers(1, dims)));
            }
            cases.add(of(Copy.PLAIN, numbers(1, dims)));
            cases.add(of(
                    new Chain(3,
                            List.of(new Chain.Combine(Binary.Function.ADD, 0, 1),
                                    new Chain.Combine(Binary.Function.MULTIPLY, 3, 2)),
                            List.of(4)),
                    numbers(1, dims), numbers(2, dims), numbers(3, dims[dims.length - 1])));
            cases.add(of(new Update.Momentum(0.9f, false, 0), numbers(1, dims), numbers(2, dims), numbers(3, 1),
                    numbers(4, dims)));
            cases.add(of(new Update.Sgd(), numbers(1, dims), numbers(2, dims), numbers(3, 1)));
            cases.add(of(new Update.Adagrad(1e-6f), numbers(1, dims), numbers(2, dims), numbers(3, 1), numbers(4, dims),
                    Tensor.of(DType.BOOL, new long[]{0}, 1)));
        }
        regions(cases);
        cases.add(of(Gather.of(1), numbers(1, 4, 9, 5), Tensor.of(new long[]{3, 0, 8, 8, 2}, 5)));
        for (int axis = 0; axis < 4; axis++) {
            cases.add(of(new LinearResampling(axis), numbers(1, 4, 5, 6, 7), Tensor.of(new long[]{0, 0, 1, 3, 2}, 5),
                    Tensor.of(new long[]{1, 2, 1, 0, 3}, 5), numbers(2, 5), numbers(3, 5)));
        }
        cases.add(of(Gather.of(-1), numbers(1, 4, 3, 9), Tensor.of(new long[]{3, 0, 8, 8, 2}, 5)));
        cases.add(of(new CrossEntropy(-1, false, -100), numbers(1, 37, 10), labels(37)));
        cases.add(of(new CrossEntropyGrad(new CrossEntropy(-1, false, -100)), numbers(1, 37, 10), labels(37),
                numbers(2, 37, 1)));
        for (long[] s : new long[][]{{5, 7, 9}, {64, 100, 47}, {33, 513, 100}, {1, 784, 512}, {128, 64, 130}, {4, 6, 6},
                {16, 2000, 17}, {5, 6, 6}, {2, 6, 6}, {3, 6, 7}, {5, 6, 4}, {7, 12, 24}}) {
            for (int transposed = 0; transposed < 4; transposed++) {
                boolean tx = (transposed & 1) != 0;
                boolean ty = (transposed & 2) != 0;
                Tensor x = tx ? numbers(1, s[1], s[0]) : numbers(1, s[0], s[1]);
                Tensor y = ty ? numbers(2, s[2], s[1]) : numbers(2, s[1], s[2]);
                cases.add(of(new MatMul(tx, ty, false, List.of()), x, y));
                cases.add(of(new MatMul(tx, ty, true, List.of(new PostOp.Apply(Unary.Function.TANH, 0, 0))), x, y,
                        numbers(3, s[2])));
            }
            cases.add(of(new MatMul(false, false, false, List.of(new PostOp.Combine(Binary.Function.ADD))),
                    numbers(1, s[0], s[1]),
                    numbers(2, s[1], s[2]), numbers(3, s[0], s[2])));
        }
        cases.add(of(MatMul.PLAIN, numbers(1, 6, 20, 30), numbers(2, 30, 40)));
        cases.add(of(MatMul.PLAIN, numbers(1, 40, 30), numbers(2, 30, 600)));
        cases.add(of(new MatMul(false, false, true, List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                numbers(1, 40, 800),
                numbers(2, 800, 520), numbers(3, 520)));
        cases.add(of(new MatMul(true, false, false, List.of()), numbers(1, 900, 64), numbers(2, 900, 200)));
        cases.add(of(new MatMul(false, true, false, List.of()), numbers(1, 4, 3, 20, 30), numbers(2, 4, 3, 20, 30)));
        MatMul masked = new MatMul(false, false, false, List.of(new PostOp.Combine(Binary.Function.ADD)));
        for (long[] mask : new long[][]{{31, 33}, {1, 1, 31, 33}, {3, 1, 31, 33}, {1, 4, 31, 33}, {3, 4, 31, 33},
                {3, 1, 1, 33}, {31, 1},
                {33}}) {
            cases.add(of(masked, numbers(1, 3, 4, 31, 24), numbers(2, 3, 4, 24, 33), numbers(3, mask)));
        }
        for (long[] mask : new long[][]{{31, 33}, {1, 31, 33}, {5, 31, 33}, {5, 1, 33}, {5, 31, 1}, {31, 1}, {33}}) {
            cases.add(of(masked, numbers(1, 5, 31, 24), numbers(2, 5, 24, 33), numbers(3, mask)));
            cases.add(of(masked, numbers(1, 5, 31, 24), numbers(2, 24, 33), numbers(3, mask)));
        }
        MatMul later = new MatMul(false, false, false,
                List.of(new PostOp.Apply(Unary.Function.TANH, 0, 0), new PostOp.Combine(Binary.Function.MULTIPLY)));
        for (long[] other : new long[][]{{31, 1}, {1, 33}, {33}, {31, 33}}) {
            cases.add(of(later, numbers(1, 31, 24), numbers(2, 24, 33), numbers(3, other)));
            cases.add(of(later, numbers(1, 5, 31, 24), numbers(2, 5, 24, 33), numbers(3, other)));
            cases.add(of(later, numbers(1, 5, 31, 24), numbers(2, 24, 33), numbers(3, other)));
        }
        for (long[] other : new long[][]{{6, 20, 4, 5}, {1, 20, 4, 5}, {6, 1, 4, 5}, {6, 20, 1, 1}, {20, 1, 1}, {4, 5},
                {5}, {1}}) {
            cases.add(of(new Convolution(PLAIN, 1, false, List.of(new PostOp.Combine(Binary.Function.ADD))),
                    numbers(1, 6, 8, 6, 7),
                    numbers(2, 20, 8, 3, 3), numbers(3, other)));
            cases.add(of(new Binary(Binary.Function.MULTIPLY, List.of(new PostOp.Combine(Binary.Function.ADD))),
                    numbers(1, 6, 20, 4, 5),
                    numbers(2, 6, 20, 4, 5), numbers(3, other)));
        }
        for (Window window : List.of(PLAIN, PADDED)) {
            for (long[] s : new long[][]{{6, 1, 12, 12, 5}, {8, 20, 12, 12, 50}, {5, 16, 9, 9, 32}}) {
                Tensor x = numbers(1, s[0], s[1], s[2], s[3]);
                Tensor w = numbers(2, s[4], s[1], 3, 3);
                Convolution forward = new Convolution(window, 1, true, List.of());
                TensorSpec out = forward.infer(x.spec(), w.spec(), TensorSpec.of(DType.FLOAT32, s[4]))[0];
                Tensor dy = numbers(3, out.shape().dims());
                cases.add(of(forward, x, w, numbers(4, s[4])));
                cases.add(of(new ConvolutionGradInput(window, 1, List.of(s[2], s[3])), dy, w));
                Pooling pooling = new Pooling(Pooling.Kind.MAX, List.of(3L, 3L), window);
                Tensor pooled = numbers(5, pooling.infer(x.spec())[0].shape().dims());
                cases.add(of(pooling, x));
                cases.add(of(new PoolingGrad(pooling), x, pooled, pooled));
            }
        }
        // One image is cut by groups, several by images; channels of a few places, and of more than a piece.
        for (long[] dims : new long[][]{{1, 24, 7, 7}, {6, 24, 3}, {1, 24, 40, 40}}) {
            for (int groups : new int[]{24, 4}) {
                cases.add(of(new GroupNorm(groups, 1e-5f, true, true), numbers(1, dims), numbers(2, 24),
                        numbers(3, 24)));
                cases.add(of(new GroupNorm(groups, 1e-5f, false, true), numbers(1, dims), numbers(2, 24)));
            }
        }
        cases.add(of(new BatchNorm(1e-5f, false), numbers(1, 6, 20, 5, 5), numbers(2, 20), numbers(3, 20),
                numbers(4, 20), numbers(5, 20)));
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void partsGiveTheWhole(Case given) {
        for (Kernels kernels : REGISTRIES) {
            @Nullable
            Tensor[] whole = arguments(given);
            String provider = run(kernels, given.computation(), whole);
            List<Split> splits = given.computation().splits(specs(whole));
            assertTrue(!splits.isEmpty(), "no splits");
            for (Split split : splits) {
                for (int count = 2; count <= 4; count++) {
                    @Nullable
                    Tensor[] parts = arguments(given);
                    boolean same = split.length(specs(whole)) / count >= split.least();
                    for (int part = 0; part < count && same; part++) {
                        Split.Range places = places(split, specs(whole), part, count);
                        same = provider.equals(run(kernels, given.computation().part(split, places, specs(whole)),
                                part(parts, split, places)));
                    }
                    for (int i = 0; i < parts.length && same; i++) {
                        if (parts[i] != null && whole[i] != null) {
                            assertAlike(split, whole[i], parts[i],
                                    "argument " + i + ", " + split + " into " + count + ", kernels of " + provider);
                        }
                    }
                }
            }
        }
    }

    /** To the bit, or else sums may be taken in another order. */
    private static void assertAlike(Split split, Tensor whole, Tensor parts, String message) {
        if (split.isExact()) {
            assertArrayEquals(bytes(whole), bytes(parts), message);
        } else {
            double[] expected = whole.toDoubleArray();
            double largest = Arrays.stream(expected).map(Math::abs).max().orElse(0);
            assertArrayEquals(expected, parts.toDoubleArray(), 1e-5 * largest, message);
        }
    }

    /** Images that lie channels first or last, cut by rows or channels, with all kinds of windows and groups. */
    @Test
    void imagesAreCutByRowsAndChannels() {
        int cases = Boolean.getBoolean("seriatim.full") ? 4000 : 200;
        int rows = 0;
        int channels = 0;
        for (int number = 0; number < cases; number++) {
            SplittableRandom random = new SplittableRandom(SEED + number);
            int rank = random.nextInt(1, 4);
            int groups = random.nextInt(4) == 0 ? random.nextInt(2, 40) : 1;
            boolean pools = random.nextInt(4) == 0;
            int[] strides = new int[rank];
            int[] begin = new int[rank];
            int[] end = new int[rank];
            int[] dilations = new int[rank];
            long[] kernel = new long[rank];
            long[] x = new long[rank + 2];
            x[0] = random.nextInt(1, 3);
            x[1] = (long) groups * random.nextInt(1, groups > 4 ? 3 : 20);
            for (int i = 0; i < rank; i++) {
                kernel[i] = random.nextInt(1, 5);
                strides[i] = random.nextInt(1, 4);
                dilations[i] = pools ? 1 : random.nextInt(1, 3);
                begin[i] = random.nextInt((int) kernel[i]);
                end[i] = random.nextInt((int) kernel[i]);
                x[2 + i] = (kernel[i] - 1) * dilations[i] + 1 + random.nextInt(rank == 3 ? 6 : 20);
            }
            Window window = Window.of(strides, begin, end, dilations);
            Case given;
            if (pools) {
                Pooling.Kind kind = List.of(Pooling.Kind.values()).get(random.nextInt(3));
                given = of(new Pooling(kind, Arrays.stream(kernel).boxed().toList(), window), numbers(number, x));
            } else {
                long[] w = new long[rank + 2];
                w[0] = (long) groups * random.nextInt(1, groups > 4 ? 3 : groups > 1 ? 20 : 100);
                w[1] = x[1] / groups;
                System.arraycopy(kernel, 0, w, 2, rank);
                boolean adds = random.nextBoolean();
                Convolution plain = new Convolution(window, groups, true, List.of());
                List<Tensor> inputs = new ArrayList<>(
                        List.of(numbers(number, x), numbers(number + 1, w), numbers(number + 2, w[0])));
                if (adds) {
                    inputs.add(
                            numbers(number + 3, plain.infer(specs(inputs.toArray(Tensor[]::new)))[0].shape().dims()));
                }
                given = new Case(new Convolution(window, groups, true,
                        adds ? List.of(new PostOp.Combine(Binary.Function.ADD)) : List.of()),
                        inputs.toArray(Tensor[]::new));
            }
            try {
                boolean last = random.nextBoolean();
                rows += isCut(given, true, last) ? 1 : 0;
                channels += isCut(given, false, last) ? 1 : 0;
            } catch (IllegalArgumentException e) {
                assertTrue(pools && String.valueOf(e.getMessage()).contains("lies in the padding"), e::getMessage);
            }
        }
        assertTrue(rows > cases / 2, "only " + rows + " of " + cases + " were cut by rows");
        assertTrue(channels > cases / 5, "only " + channels + " of " + cases + " were cut by channels");
    }

    /** Returns whether it was cut at least once. */
    private static boolean isCut(Case given, boolean byRows, boolean channelsLast) {
        boolean any = false;
        for (Kernels kernels : REGISTRIES) {
            @Nullable
            Tensor[] whole = laid(arguments(given), channelsLast);
            String provider = run(kernels, given.computation(), whole);
            for (Split split : given.computation().splits(specs(whole))) {
                for (int count = 2; count <= 5 && !split.isExact() && byRows == (split.window() != null); count++) {
                    @Nullable
                    Tensor[] parts = laid(arguments(given), channelsLast);
                    boolean same = split.length(specs(whole)) / count >= split.unit();
                    for (int part = 0; part < count && same; part++) {
                        Split.Range places = places(split, specs(whole), part, count);
                        same = isInsideImage(split, places, whole)
                                && provider.equals(run(kernels, given.computation().part(split, places, specs(whole)),
                                        part(parts, split, places)));
                    }
                    if (same) {
                        any = true;
                        assertAlike(split, Objects.requireNonNull(whole[whole.length - 1]),
                                Objects.requireNonNull(parts[parts.length - 1]),
                                given + ", channels last: "
                                        + channelsLast + ", into " + count + ", " + provider);
                    }
                }
            }
        }
        return any;
    }

    /** Returns whether a part of the first argument is not just padding. */
    private static boolean isInsideImage(Split split, Split.Range places, @Nullable Tensor[] whole) {
        int axis = split.axes().getFirst();
        if (axis == Split.WHOLE) {
            return true;
        }
        Split.Range range = split.range(0, places, split.length(specs(whole)),
                Objects.requireNonNull(whole[0]).shape().dim(axis));
        return range.from() < range.to();
    }

    /** Images of the first and the last argument with channels last in memory. */
    private static @Nullable Tensor[] laid(@Nullable Tensor[] arguments, boolean channelsLast) {
        @Nullable
        Tensor[] laid = arguments.clone();
        for (int i : channelsLast ? new int[]{0, laid.length - 1} : new int[0]) {
            Tensor plain = Objects.requireNonNull(laid[i]);
            long[] dims = plain.shape().dims();
            long[] strides = new long[dims.length];
            long step = dims[1];
            strides[1] = 1;
            for (int axis = dims.length - 1; axis > 1; axis--) {
                strides[axis] = step;
                step *= dims[axis];
            }
            strides[0] = step;
            Tensor turned = new Tensor(plain.buffer(), 0,
                    new TensorSpec(plain.dtype(), plain.shape(), Layout.strided(strides)));
            if (i == 0) {
                Tensor target = new Tensor(Tensor.allocate(Devices.system().host(), plain.spec()).buffer(), 0,
                        turned.spec());
                run(Kernels.portable(), Copy.PLAIN, new Tensor[]{plain, target});
                turned = target;
            }
            laid[i] = turned;
        }
        return laid;
    }

    @Test
    void whatDoesNotDivideIsNotCut() {
        TensorSpec rows = TensorSpec.of(DType.FLOAT32, 6, 4);
        assertEquals(3, Split.of(0, 0).length(rows, TensorSpec.of(DType.FLOAT32, 3)));
        assertEquals(1, Split.of(0, 0).length(rows, TensorSpec.of(DType.FLOAT32, 4)));
        assertEquals(1, Split.of(Split.WHOLE, Split.WHOLE).length(rows, rows));
        assertEquals(List.of(),
                new Reduction(Reduction.Function.SUM, List.of(), false).splits(rows, TensorSpec.of(DType.FLOAT32)));
        assertEquals(List.of(),
                new Update.Adam(0.9f, 0.999f, 1e-8f, 0).splits(rows, rows, rows, rows, rows, rows, rows));
    }

    private static byte[] bytes(Tensor tensor) {
        return tensor.memory().toArray(ValueLayout.JAVA_BYTE);
    }

    /** Copies, since some inputs are changed, and outputs. */
    private static @Nullable Tensor[] arguments(Case given) {
        List<@Nullable Tensor> all = new ArrayList<>();
        for (Tensor input : given.inputs()) {
            if (input == null) {
                all.add(null);
            } else {
                Tensor copy = Tensor.allocate(Devices.system().host(), input.spec());
                copy.memory().copyFrom(input.memory());
                all.add(copy);
            }
        }
        for (TensorSpec output : given.computation().infer(specs(given.inputs()))) {
            all.add(Tensor.allocate(Devices.system().host(), output));
        }
        return all.toArray(Tensor[]::new);
    }

    private static @Nullable TensorSpec[] specs(@Nullable Tensor[] tensors) {
        return Arrays.stream(tensors).map(tensor -> tensor == null ? null : tensor.spec()).toArray(TensorSpec[]::new);
    }

    private static String run(Kernels kernels, Computation computation, @Nullable Tensor[] arguments) {
        try (Kernel kernel = kernels.prepare(computation, Place.CPU, specs(arguments))) {
            kernel.run(arguments, KernelContext.current());
            return kernel.provider();
        }
    }

    private static Split.Range places(Split split, @Nullable TensorSpec[] specs, int part, int count) {
        long length = split.length(specs);
        long to = part == count - 1 ? length : (part + 1) * length / count / split.unit() * split.unit();
        return new Split.Range(part * length / count / split.unit() * split.unit(), to);
    }

    private static @Nullable Tensor[] part(@Nullable Tensor[] arguments, Split split, Split.Range places) {
        long length = split.length(specs(arguments));
        @Nullable
        Tensor[] views = arguments.clone();
        for (int i = 0; i < views.length; i++) {
            Tensor tensor = arguments[i];
            int axis = split.axes().get(i);
            if (tensor != null && axis != Split.WHOLE) {
                long[] dims = tensor.shape().dims();
                Split.Range range = split.range(i, places, length, dims[axis]);
                dims[axis] = range.to() - range.from();
                views[i] = new Tensor(tensor.buffer(),
                        tensor.offset() + range.from() * tensor.spec().strides()[axis] * tensor.dtype().bytes(),
                        new TensorSpec(tensor.dtype(), Shape.of(dims), Layout.strided(tensor.spec().strides())));
            }
        }
        return views;
    }
}

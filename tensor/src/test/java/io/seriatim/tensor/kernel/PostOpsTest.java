package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Products and convolutions with post-ops against the same steps one by one, in the forms that a fusing executor makes.
 */
class PostOpsTest {
    private static final long SEED = 20261205;
    private static final PostOp ADD = new PostOp.Combine(Binary.Function.ADD);
    private static final PostOp MULTIPLY = new PostOp.Combine(Binary.Function.MULTIPLY);
    private static final PostOp RELU = new PostOp.Apply(Unary.Function.RELU, 0, 0);
    private static final PostOp ACCUMULATE = new PostOp.Accumulate(1);

    /** A product or convolution, and shapes of what it takes. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Main(String name, Computation plain, long[]... shapes) {
        Computation with(boolean bias, List<PostOp> postOps) {
            return switch (plain) {
                case MatMul m -> new MatMul(m.transposeX(), m.transposeY(), bias, postOps);
                case Convolution c -> new Convolution(c.window(), c.groups(), bias, postOps);
                default -> throw new IllegalStateException(plain + " takes no post-ops");
            };
        }

        @Override
        public String toString() {
            return name + " " + Arrays.deepToString(shapes);
        }
    }

    private static long[] dims(long... dims) {
        return dims;
    }

    private static Main convolution(String name, int stride, int pad, int groups, long[]... shapes) {
        return new Main(name, new Convolution(Window.of(2, stride, pad), groups, false, List.of()), shapes);
    }

    static Stream<Main> mains() {
        return Stream.of(new Main("product", MatMul.PLAIN, dims(13, 40), dims(40, 24)),
                new Main("large product", MatMul.PLAIN, dims(70, 130), dims(130, 96)),
                new Main("transposed", new MatMul(true, true, false, List.of()), dims(40, 13), dims(24, 40)),
                new Main("batches", MatMul.PLAIN, dims(3, 13, 20), dims(3, 20, 24)),
                new Main("batches by a matrix", MatMul.PLAIN, dims(3, 13, 20), dims(20, 24)),
                new Main("attention", MatMul.PLAIN, dims(2, 4, 9, 16), dims(2, 4, 16, 9)),
                convolution("3x3", 1, 1, 1, dims(2, 16, 9, 9), dims(32, 16, 3, 3)),
                convolution("odd channels", 1, 0, 1, dims(2, 5, 9, 7), dims(7, 5, 3, 3)),
                convolution("three colours", 2, 1, 1, dims(1, 3, 17, 17), dims(16, 3, 3, 3)),
                convolution("pointwise", 1, 0, 1, dims(2, 16, 9, 7), dims(32, 16, 1, 1)),
                convolution("pointwise, stride 2", 2, 0, 1, dims(2, 16, 9, 9), dims(32, 16, 1, 1)),
                convolution("one pixel", 1, 0, 1, dims(2, 16, 1, 1), dims(8, 16, 1, 1)),
                convolution("groups", 1, 1, 2, dims(2, 16, 8, 8), dims(16, 8, 3, 3)),
                convolution("depthwise", 1, 1, 16, dims(2, 16, 8, 8), dims(16, 1, 3, 3)));
    }

    private static Tensor numbers(int salt, long... dims) {
        return Tensor.of(DType.FLOAT32,
                new SplittableRandom(SEED + salt).doubles(Shape.of(dims).size(), -1, 1).toArray(), dims);
    }

    private static Tensor[] inputs(Main main) {
        Tensor[] inputs = new Tensor[main.shapes().length];
        Arrays.setAll(inputs, i -> numbers(i, main.shapes()[i]));
        return inputs;
    }

    private static Tensor[] and(Tensor[] inputs, Tensor... more) {
        return Stream.concat(Arrays.stream(inputs), Arrays.stream(more)).toArray(Tensor[]::new);
    }

    /**
     * Each channel's value, or each column's: as a vector, with dimensions of length 1, repeated by strides, with gaps.
     */
    private static List<Tensor> biases(Main main, Shape out) {
        boolean images = main.plain() instanceof Convolution;
        long length = images ? out.dim(1) : out.dim(-1);
        Tensor vector = numbers(7, length);
        long[] dims = new long[out.rank()];
        Arrays.fill(dims, 1);
        dims[images ? 1 : dims.length - 1] = length;
        Tensor wide = numbers(7, dims);
        Tensor gaps = numbers(8, length, 2).select(1, 1);
        List<Tensor> biases = new ArrayList<>(List.of(wide, wide.expand(out)));
        if (images) {
            biases.add(numbers(7, length, 1, 1));
            biases.add(numbers(8, length, 1, 1, 2).select(3, 1));
        } else {
            biases.addAll(List.of(vector, gaps));
        }
        return biases;
    }

    private static Tensor separately(Main main, List<PostOp> postOps, Tensor[] inputs, Tensor... operands) {
        Tensor value = KernelRun.run(Kernels.system(), main.plain(), inputs)[0];
        int next = 0;
        for (PostOp postOp : postOps) {
            value = switch (postOp) {
                case PostOp.Apply(var function, var alpha, var beta) ->
                    KernelRun.run(Kernels.system(), new Unary(function, alpha, beta), value)[0];
                case PostOp.Combine(var function) ->
                    KernelRun.run(Kernels.system(), Binary.of(function), value, operands[next++])[0];
                case PostOp.Accumulate _ -> throw new IllegalStateException("has a test of its own");
            };
        }
        return value;
    }

    private static Tensor fused(Computation computation, Tensor before, Tensor... inputs) {
        Tensor out = Tensor.of(before.toFloatArray(), before.shape().dims());
        KernelRun.into(Kernels.system(), computation, new Tensor[]{out}, inputs);
        if (OneDnn.status().loaded()) {
            TensorSpec[] specs = Arrays.stream(and(inputs, out)).map(Tensor::spec).toArray(TensorSpec[]::new);
            try (Kernel kernel = Kernels.system().prepare(computation, Place.CPU, specs)) {
                assertEquals("onednn", kernel.provider(), computation + " of " + Arrays.toString(specs));
            }
        }
        return out;
    }

    private static void same(String what, Tensor expected, Tensor got) {
        assertArrayEquals(expected.toFloatArray(), got.toFloatArray(), 0, what + ", seed " + SEED);
    }

    @ParameterizedTest
    @MethodSource("mains")
    void biasResidualAndFunction(Main main) {
        Tensor[] inputs = inputs(main);
        Tensor plain = KernelRun.run(Kernels.system(), main.plain(), inputs)[0];
        Shape shape = plain.shape();
        Tensor residual = numbers(9, shape.dims());
        for (Tensor bias : biases(main, shape)) {
            String what = main + " bias " + bias.spec();
            for (List<PostOp> more : List.of(List.<PostOp>of(), List.of(RELU), List.of(ADD), List.of(ADD, RELU),
                    List.of(RELU, ADD))) {
                List<PostOp> all = new ArrayList<>(more);
                all.addFirst(ADD);
                Tensor[] operands = more.contains(ADD) ? new Tensor[]{bias, residual} : new Tensor[]{bias};
                Tensor expected = separately(main, all, inputs, operands);
                same(what + " " + more, expected, fused(main.with(false, all), plain, and(inputs, operands)));
                if (main.plain() instanceof MatMul) {
                    same(what + " " + more, expected, fused(main.with(true, more), plain, and(inputs, operands)));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("mains")
    void biasOfAConvolutionIsOneValueAChannel(Main main) {
        if (main.plain() instanceof MatMul) {
            return;
        }
        Tensor[] inputs = inputs(main);
        Tensor plain = KernelRun.run(Kernels.system(), main.plain(), inputs)[0];
        Tensor residual = numbers(9, plain.shape().dims());
        long channels = plain.shape().dim(1);
        for (Tensor bias : List.of(numbers(7, channels), numbers(8, channels, 2).select(1, 1))) {
            Tensor spread = Tensor.of(bias.toFloatArray(), channels, 1, 1);
            Tensor expected = separately(main, List.of(ADD, ADD, RELU), inputs, spread, residual);
            same(main + " bias " + bias.spec(), expected,
                    fused(main.with(true, List.of(ADD, RELU)), plain, and(inputs, bias, residual)));
        }
    }

    /** What does not lie dense, or repeats along some dimensions only. */
    @ParameterizedTest
    @MethodSource("mains")
    void operandsOfOtherForms(Main main) {
        Tensor[] inputs = inputs(main);
        Tensor plain = KernelRun.run(Kernels.system(), main.plain(), inputs)[0];
        long[] dims = plain.shape().dims();
        List<Tensor> operands = new ArrayList<>(List.of(numbers(3), numbers(3, 1)));
        long[] wider = dims.clone();
        wider[dims.length - 1] += 3;
        operands.add(numbers(4, wider).slice(dims.length - 1, 1, 1 + dims[dims.length - 1]));
        if (main.plain() instanceof MatMul) {
            operands.add(numbers(6, dims[dims.length - 2], dims[dims.length - 1]));
        }
        for (int i = 0; i < dims.length; i++) {
            long[] repeated = dims.clone();
            repeated[i] = 1;
            operands.add(numbers(5, repeated));
            operands.add(numbers(5, repeated).expand(plain.shape()));
        }
        for (Tensor operand : operands) {
            for (PostOp combine : List.of(ADD, MULTIPLY)) {
                Tensor expected = separately(main, List.of(combine, RELU), inputs, operand);
                same(main + " " + combine + " with " + operand.spec(), expected,
                        fused(main.with(false, List.of(combine, RELU)), plain, and(inputs, operand)));
            }
        }
    }

    /** Heads side by side in one row, as projections give and take them. */
    @Test
    void headsWhereTheyLie() {
        long[] heads = {2, 4, 9, 16};
        Tensor projection = numbers(1, 2, 9, 3, 4, 16);
        Tensor[] parts = new Tensor[3];
        Tensor[] dense = new Tensor[3];
        for (int i = 0; i < 3; i++) {
            parts[i] = projection.select(2, i).transpose(0, 2, 1, 3);
            dense[i] = Tensor.of(parts[i].toFloatArray(), heads);
        }
        Tensor mask = numbers(2, 9, 9);
        PostOp scale = new PostOp.Apply(Unary.Function.LINEAR, 0.3f, 0);
        MatMul scores = new MatMul(false, true, false, List.of(scale, ADD));
        Tensor square = numbers(3, 2, 4, 9, 9);
        Tensor expected = fused(scores, square, dense[0], dense[1], mask);
        same("scores", expected, fused(scores, square, parts[0], parts[1], mask));
        same("scores", separately(new Main("scores", new MatMul(false, true, false, List.of())), List.of(scale, ADD),
                new Tensor[]{dense[0], dense[1]}, mask), expected);
        for (boolean transposed : new boolean[]{false, true}) {
            MatMul product = new MatMul(transposed, false, false, List.of());
            Tensor whole = KernelRun.run(Kernels.system(), product, square, dense[2])[0];
            Tensor all = Tensor.allocate(DType.FLOAT32, 2, 9, 3, 4, 16);
            Tensor there = all.select(2, 1).transpose(0, 2, 1, 3);
            KernelRun.into(Kernels.system(), product, new Tensor[]{there}, square, parts[2]);
            same("transposed " + transposed, whole, there);
        }
    }

    /** The step of a dimension of one element is never taken, whatever it is. */
    @ParameterizedTest
    @ValueSource(longs = {1, 8, 16, 128, 1000})
    void aBatchOfOneMayHaveAnyStep(long step) {
        Tensor x = numbers(1, 8, 2, 8);
        Tensor y = numbers(2, 8, 2, 8);
        TensorSpec heads = new TensorSpec(DType.FLOAT32, Shape.of(1, 2, 8, 8), Layout.strided(step, 8, 16, 1));
        Tensor[] views = {new Tensor(x.buffer(), x.offset(), heads), new Tensor(y.buffer(), y.offset(), heads)};
        Tensor[] dense = {Tensor.of(views[0].toFloatArray(), 1, 2, 8, 8),
                Tensor.of(views[1].toFloatArray(), 1, 2, 8, 8)};
        for (boolean transposed : new boolean[]{false, true}) {
            MatMul product = new MatMul(false, transposed, false, List.of());
            Tensor expected = KernelRun.run(Kernels.system(), product, dense)[0];
            same("step " + step, expected, KernelRun.run(Kernels.system(), product, views)[0]);
            Tensor all = Tensor.allocate(DType.FLOAT32, 8, 2, 8);
            Tensor there = new Tensor(all.buffer(), all.offset(), heads);
            KernelRun.into(Kernels.system(), product, new Tensor[]{there}, views);
            same("into step " + step, expected, there);
        }
    }

    @ParameterizedTest
    @MethodSource("mains")
    void addsToWhatTheOutputHeld(Main main) {
        Tensor[] inputs = inputs(main);
        Tensor plain = KernelRun.run(Kernels.system(), main.plain(), inputs)[0];
        Tensor before = numbers(9, plain.shape().dims());
        Tensor sum = separately(main, List.of(ADD), inputs, before);
        same(main + " accumulated", sum, fused(main.with(false, List.of(ACCUMULATE)), before, inputs));
        Tensor positive = separately(main, List.of(ADD, RELU), inputs, before);
        same(main + " accumulated, relu", positive, fused(main.with(false, List.of(ACCUMULATE, RELU)), before, inputs));
        Tensor[] portable = {Tensor.of(before.toFloatArray(), before.shape().dims())};
        KernelRun.into(Kernels.portable(), main.with(false, List.of(new PostOp.Accumulate(0.5f), RELU)), portable,
                inputs);
        Tensor half = fused(main.with(false, List.of(new PostOp.Accumulate(0.5f), RELU)), before, inputs);
        assertArrayEquals(portable[0].toFloatArray(), half.toFloatArray(), 1e-4f,
                main + " half accumulated, seed " + SEED);
    }

    /** With a tolerance, since sums are taken in another order. */
    @ParameterizedTest
    @MethodSource("mains")
    void sixteenBitsGiveWhatPlainJavaGives(Main main) {
        for (DType dtype : List.of(DType.BFLOAT16, DType.FLOAT16)) {
            Tensor[] inputs = Arrays.stream(inputs(main)).map(input -> cast(input, dtype)).toArray(Tensor[]::new);
            Tensor plain = KernelRun.run(Kernels.portable(), main.plain(), inputs)[0];
            Tensor residual = cast(numbers(9, plain.shape().dims()), dtype);
            for (Tensor bias : biases(main, plain.shape())) {
                Tensor[] all = and(inputs, cast(bias, dtype), residual);
                Computation computation = main.with(false, List.of(ADD, ADD, RELU));
                float[] expected = KernelRun.run(Kernels.portable(), computation, all)[0].toFloatArray();
                float[] got = KernelRun.run(Kernels.system(), computation, all)[0].toFloatArray();
                assertArrayEquals(expected, got, dtype == DType.BFLOAT16 ? 0.07f : 0.01f,
                        main + " " + dtype + " bias " + bias.spec());
            }
        }
    }

    private static Tensor cast(Tensor tensor, DType dtype) {
        return Tensor.of(dtype, tensor.toDoubleArray(), tensor.shape().dims());
    }

    @ParameterizedTest
    @EnumSource(Unary.Function.class)
    void notANumberIsKept(Unary.Function function) {
        PostOp.Apply apply = new PostOp.Apply(function, 0.5f, 0.75f);
        Tensor x = Tensor.of(new float[]{Float.NaN, 1, -1, 2}, 2, 2);
        Tensor y = Tensor.of(new float[]{1, 0, 0, 1}, 2, 2);
        MatMul product = new MatMul(false, false, false, List.of(apply));
        for (Kernels kernels : apply.keepsNaN() ? List.of(Kernels.portable(), Kernels.system()) : List.<Kernels>of()) {
            assertEquals(Float.NaN, KernelRun.run(kernels, product, x, y)[0].toFloatArray()[0], function.toString());
        }
    }

    /** Kernels are run again and by other threads: what they keep between runs must not show. */
    @Test
    void runsAgainGiveTheSame() {
        Main main = convolution("3x3", 1, 1, 1, dims(2, 16, 9, 9), dims(32, 16, 3, 3));
        Tensor[] inputs = inputs(main);
        Tensor plain = KernelRun.run(Kernels.system(), main.plain(), inputs)[0];
        Tensor residual = numbers(9, plain.shape().dims());
        Tensor expected = separately(main, List.of(ADD, RELU), inputs, residual);
        Tensor[] arguments = and(inputs, residual, Tensor.allocate(DType.FLOAT32, plain.shape().dims()));
        TensorSpec[] specs = Arrays.stream(arguments).map(Tensor::spec).toArray(TensorSpec[]::new);
        try (Kernel kernel = Kernels.system().prepare(main.with(false, List.of(ADD, RELU)), Place.CPU, specs)) {
            for (int i = 0; i < 3; i++) {
                kernel.run(arguments, KernelContext.current());
                same("run " + i, expected, arguments[3]);
            }
        }
    }
}

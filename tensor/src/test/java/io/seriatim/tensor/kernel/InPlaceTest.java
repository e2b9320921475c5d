package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.BinaryGrad;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Dropout;
import io.seriatim.tensor.computation.DropoutGrad;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.Scatter;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What may be computed in place gives to the bit what it gives elsewhere. */
class InPlaceTest {
    private static final long SEED = 20261203;
    private static final float[] SPECIAL = {0f, -0f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE,
            -Float.MIN_NORMAL, Float.MAX_VALUE};
    /** Tails of vectors, a block of the screened functions and more, nothing. */
    private static final long[][] SHAPES = {{0}, {1}, {}, {7}, {16}, {17}, {207}, {4098}, {13, 21}, {3, 5, 7},
            {2, 16, 4, 4}, {33000}};
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16, DType.FLOAT64);
    private static final List<Kernels> REGISTRIES = List.of(Kernels.portable(), Kernels.system());

    private static Tensor numbers(DType dtype, int salt, boolean special, long... dims) {
        SplittableRandom random = new SplittableRandom(SEED + salt);
        double[] values = random.doubles(Shape.of(dims).size(), -3, 3).toArray();
        for (int i = 0; i < values.length && special; i += 5) {
            values[i] = SPECIAL[random.nextInt(SPECIAL.length)];
        }
        return Tensor.of(dtype, values, dims);
    }

    private static Tensor numbers(DType dtype, int salt, long... dims) {
        return numbers(dtype, salt, false, dims);
    }

    private static Tensor positive(DType dtype, int salt, long... dims) {
        return Tensor.of(dtype, new SplittableRandom(SEED + salt).doubles(Shape.of(dims).size(), 0.5, 2).toArray(),
                dims);
    }

    private static byte[] bytes(Tensor tensor) {
        return tensor.memory().toArray(ValueLayout.JAVA_BYTE);
    }

    private static Tensor twin(Tensor tensor, boolean poisoned) {
        Tensor copy = new Tensor(Devices.system().host().allocate(tensor.buffer().bytes()), tensor.offset(),
                tensor.spec());
        if (poisoned) {
            copy.memory().fill((byte) 0x7f);
        } else {
            MemorySegment.copy(tensor.memory(), 0, copy.memory(), 0, tensor.buffer().bytes());
        }
        return copy;
    }

    /** Runs out of place, then into the input, and compares all outputs. */
    private static void same(Kernels kernels, Computation computation, int input, Tensor... inputs) {
        TensorSpec[] results = computation.infer(Arrays.stream(inputs).map(Tensor::spec).toArray(TensorSpec[]::new));
        results[0] = inputs[input].spec();
        same(kernels, computation, input, results, inputs);
    }

    private static void same(Kernels kernels, Computation computation, int input, @Nullable TensorSpec[] results,
            Tensor... inputs) {
        int given = inputs.length;
        @Nullable
        Tensor[] apart = Arrays.copyOf(inputs, given + results.length);
        @Nullable
        Tensor[] within = Arrays.copyOf(inputs, given + results.length);
        within[input] = twin(inputs[input], false);
        boolean first = true;
        for (int i = 0; i < results.length; i++) {
            TensorSpec spec = results[i];
            if (spec != null) {
                // What lies between the elements of a view stays as it was.
                apart[given + i] = first ? twin(inputs[input], false) : Tensor.allocate(Devices.system().host(), spec);
                within[given + i] = first ? within[input] : Tensor.allocate(Devices.system().host(), spec);
                first = false;
            }
        }
        @Nullable
        TensorSpec[] specs = Arrays.stream(apart).map(t -> t == null ? null : t.spec()).toArray(TensorSpec[]::new);
        String what = computation + " input " + input + " " + Arrays.toString(specs) + " seed " + SEED;
        assertTrue(computation.inPlace(input, specs), what);
        try (Kernel kernel = kernels.prepare(computation, Place.CPU, specs)) {
            kernel.run(apart, KernelContext.current());
            kernel.run(within, KernelContext.current());
            for (int i = given; i < apart.length; i++) {
                Tensor expected = apart[i];
                Tensor got = within[i];
                if (expected != null && got != null) {
                    assertArrayEquals(bytes(expected), bytes(got),
                            what + " output " + (i - given) + " by " + kernel.provider());
                }
            }
        }
    }

    private static Stream<Tensor> views(DType dtype, int salt) {
        return Stream.of(numbers(dtype, salt, 9, 30).slice(1, 3, 24), numbers(dtype, salt, 21, 9).transpose(),
                numbers(dtype, salt, 9, 21, 2).select(2, 1),
                new Tensor(numbers(dtype, salt, 9, 21).buffer(), 188L * dtype.bytes(),
                        new TensorSpec(dtype, Shape.of(9, 21), Layout.strided(-21, -1))));
    }

    @ParameterizedTest
    @EnumSource(Unary.Function.class)
    void functionsOfOneElement(Unary.Function function) {
        for (Kernels kernels : REGISTRIES) {
            for (DType dtype : function.isTest() ? List.of(DType.BOOL) : FLOATS) {
                Unary unary = new Unary(function, 0.25f, 0.75f);
                for (long[] dims : SHAPES) {
                    same(kernels, unary, 0, numbers(dtype, 1, true, dims));
                    same(kernels, unary, 0, numbers(dtype, 2, dims));
                }
                views(dtype, 3).forEach(view -> same(kernels, unary, 0, view));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Unary.Function.class)
    void gradientsOfFunctionsOfOneElement(Unary.Function function) {
        if (function.isTest()) {
            return;
        }
        for (Kernels kernels : REGISTRIES) {
            for (DType dtype : FLOATS) {
                for (long[] dims : SHAPES) {
                    UnaryGrad grad = new UnaryGrad(function, 0.25f, 0.75f);
                    same(kernels, grad, 2, numbers(dtype, 1, dims), numbers(dtype, 2, dims), numbers(dtype, 3, dims));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Binary.Function.class)
    void functionsOfTwoElements(Binary.Function function) {
        for (Kernels kernels : REGISTRIES) {
            List<DType> dtypes = function.isBitwise() ? List.of(DType.INT8, DType.UINT16, DType.UINT64) : FLOATS;
            for (DType dtype : function.isTest() ? List.of(DType.BOOL) : dtypes) {
                Binary binary = Binary.of(function);
                for (long[] dims : SHAPES) {
                    for (int input = 0; input < 2; input++) {
                        same(kernels, binary, input, numbers(dtype, 1, true, dims), numbers(dtype, 2, dims));
                    }
                    twice(kernels, binary, numbers(dtype, 1, dims));
                }
                for (long[] other : new long[][]{{}, {1}, {21}, {13, 1}, {5, 1, 1}, {13, 21}, {5, 1, 21}, {1, 13, 1}}) {
                    same(kernels, binary, 0, numbers(dtype, 1, 5, 13, 21), numbers(dtype, 2, other));
                    same(kernels, binary, 1, numbers(dtype, 2, other), numbers(dtype, 1, 5, 13, 21));
                }
                views(dtype, 3).forEach(view -> {
                    same(kernels, binary, 0, view, numbers(dtype, 4, 21));
                    same(kernels, binary, 1, numbers(dtype, 4, 9, 1), view);
                });
            }
        }
    }

    /** Both operands, and the result in their place. */
    private static void twice(Kernels kernels, Computation binary, Tensor x) {
        Tensor out = twin(x, true);
        KernelRun.into(kernels, binary, new Tensor[]{out}, x, x);
        Tensor all = twin(x, false);
        KernelRun.into(kernels, binary, new Tensor[]{all}, all, all);
        assertArrayEquals(bytes(out), bytes(all), binary + " of " + x.spec() + " seed " + SEED);
    }

    @Test
    void postOpsOfFunctionsOfTwoElements() {
        Binary binary = new Binary(Binary.Function.ADD, List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0),
                new PostOp.Combine(Binary.Function.MULTIPLY)));
        for (Kernels kernels : REGISTRIES) {
            for (DType dtype : FLOATS) {
                for (int input = 0; input < 2; input++) {
                    same(kernels, binary, input, numbers(dtype, 1, 13, 21), numbers(dtype, 2, 13, 21),
                            numbers(dtype, 3, 21));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Binary.Function.class, names = {"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "MAXIMUM", "MINIMUM",
            "POWER", "MODULO"})
    void gradientsOfFunctionsOfTwoElements(Binary.Function function) {
        BinaryGrad grad = new BinaryGrad(function);
        for (Kernels kernels : REGISTRIES) {
            for (DType dtype : FLOATS) {
                for (long[] dims : SHAPES) {
                    TensorSpec spec = TensorSpec.of(dtype, dims);
                    for (TensorSpec[] results : new TensorSpec[][]{{spec, spec}, {spec, null}, {null, spec}}) {
                        for (int input = 0; input < 3; input++) {
                            same(kernels, grad, input, results, positive(dtype, 1, dims), positive(dtype, 2, dims),
                                    numbers(dtype, 3, dims));
                        }
                    }
                }
                for (long[] other : new long[][]{{}, {21}, {13, 1}, {5, 1, 1}}) {
                    TensorSpec whole = TensorSpec.of(dtype, 5, 13, 21);
                    TensorSpec part = TensorSpec.of(dtype, other);
                    same(kernels, grad, 2, new TensorSpec[]{whole, part}, positive(dtype, 1, 5, 13, 21),
                            positive(dtype, 2, other),
                            numbers(dtype, 3, 5, 13, 21));
                    same(kernels, grad, 2, new TensorSpec[]{null, whole}, positive(dtype, 2, other),
                            positive(dtype, 1, 5, 13, 21),
                            numbers(dtype, 3, 5, 13, 21));
                    assertFalse(grad.inPlace(0, part, whole, whole, part, whole), "a sum reads its operand again");
                }
            }
        }
    }

    @Test
    void choicesAndMasks() {
        for (Kernels kernels : REGISTRIES) {
            for (DType dtype : FLOATS) {
                for (long[] dims : SHAPES) {
                    Tensor condition = Tensor.of(DType.BOOL, bits(Shape.of(dims).size()), dims);
                    for (int input = 1; input < 3; input++) {
                        same(kernels, new Where(), input, condition, numbers(dtype, 1, true, dims),
                                numbers(dtype, 2, dims));
                    }
                    same(kernels, new Where(), 1, Tensor.of(DType.BOOL, bits(1)), numbers(dtype, 1, dims),
                            numbers(dtype, 2));
                    Dropout dropout = new Dropout(0.4f, true);
                    same(kernels, dropout, 0, numbers(dtype, 1, true, dims), Tensor.of(new long[]{7, 9}));
                    same(kernels, new DropoutGrad(dropout), 0, numbers(dtype, 1, true, dims),
                            Tensor.of(DType.UINT8, bits(Shape.of(dims).size()), dims));
                    same(kernels, Copy.PLAIN, 0, numbers(dtype, 1, true, dims));
                }
                views(dtype, 3).forEach(view -> same(kernels, Copy.PLAIN, 0, view));
                views(dtype, 3)
                        .forEach(view -> same(kernels, new Dropout(0.4f, false), 0, view, Tensor.of(new long[]{7, 9})));
                for (boolean upper : new boolean[]{true, false}) {
                    same(kernels, new Triangle(upper, 1), 0, numbers(dtype, 1, 3, 13, 21));
                }
            }
            Tensor condition = Tensor.of(DType.BOOL, bits(207), 207);
            same(kernels, new Where(), 0, condition, Tensor.of(DType.BOOL, bits(207), 207),
                    Tensor.of(DType.BOOL, bits(1)));
        }
    }

    private static long[] bits(long count) {
        return new SplittableRandom(SEED).longs(count, 0, 2).toArray();
    }

    @Test
    void softmaxAndNormalisations() {
        for (Kernels kernels : REGISTRIES) {
            for (DType dtype : FLOATS) {
                for (int axis : new int[]{0, 1, -1}) {
                    for (boolean log : new boolean[]{false, true}) {
                        for (long[] dims : new long[][]{{3, 13, 7}, {1, 1}, {4, 207}, {2, 16, 5, 5}, {0, 4},
                                {5, 1000}}) {
                            same(kernels, new Softmax(axis, log), 0, numbers(dtype, 1, dims));
                            same(kernels, new SoftmaxGrad(axis, log), 1, positive(dtype, 1, dims),
                                    numbers(dtype, 2, dims));
                        }
                        views(dtype, 3).forEach(view -> same(kernels, new Softmax(axis, log), 0, view));
                    }
                }
                rows(kernels, dtype);
                images(kernels, dtype);
                Tensor labels = Tensor.of(new long[]{2, 0, 3, 1, 2}, 5, 1);
                same(kernels, new CrossEntropyGrad(new CrossEntropy(1, false, 3)), 0, positive(dtype, 1, 5, 4), labels,
                        numbers(dtype, 2, 5, 1));
                same(kernels, new CrossEntropyGrad(new CrossEntropy(1, true, -1)), 0, positive(dtype, 1, 5, 4),
                        positive(dtype, 2, 5, 4),
                        numbers(dtype, 2, 5, 1));
            }
        }
    }

    private static void rows(Kernels kernels, DType dtype) {
        DType statistics = dtype.arithmetic();
        for (long length : new long[]{1, 13, 64, 207}) {
            Tensor scale = numbers(statistics, 3, length);
            LayerNorm norm = new LayerNorm(1, 1e-5f, true, true);
            same(kernels, norm, 0, numbers(dtype, 1, 5, length), scale, numbers(statistics, 4, length));
            same(kernels, new LayerNormGrad(norm), 1, numbers(dtype, 1, 5, length), numbers(dtype, 2, 5, length), scale,
                    numbers(statistics, 5, 5), positive(statistics, 6, 5));
            LayerNorm plain = new LayerNorm(1, 1e-5f, false, false);
            same(kernels, plain, 0, numbers(dtype, 1, 5, length));
            same(kernels, new LayerNormGrad(plain), 1, numbers(dtype, 1, 5, length), numbers(dtype, 2, 5, length),
                    numbers(statistics, 5, 5), positive(statistics, 6, 5));
        }
    }

    private static void images(Kernels kernels, DType dtype) {
        DType statistics = dtype.arithmetic();
        for (long[] dims : new long[][]{{2, 6, 5, 7}, {3, 16, 4, 4}, {4, 8}}) {
            Tensor scale = numbers(statistics, 3, dims[1]);
            Tensor mean = numbers(statistics, 5, dims[1]);
            Tensor variance = positive(statistics, 6, dims[1]);
            for (boolean training : new boolean[]{true, false}) {
                BatchNorm norm = new BatchNorm(1e-5f, training);
                Tensor x = numbers(dtype, 1, dims);
                same(kernels, norm, 0,
                        training ? new Tensor[]{x, scale, scale} : new Tensor[]{x, scale, scale, mean, variance});
                same(kernels, new BatchNormGrad(norm), 1, numbers(dtype, 1, dims), numbers(dtype, 2, dims), scale, mean,
                        variance);
            }
            GroupNorm group = new GroupNorm(2, 1e-5f, true, true);
            same(kernels, group, 0, numbers(dtype, 1, dims), scale, scale);
            same(kernels, new GroupNormGrad(group), 1, numbers(dtype, 1, dims), numbers(dtype, 2, dims), scale,
                    numbers(statistics, 5, dims[0], 2), positive(statistics, 6, dims[0], 2));
        }
    }

    @Test
    void updatesByIndex() {
        for (Kernels kernels : REGISTRIES) {
            for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64, DType.INT64)) {
                Tensor rows = Tensor.of(new long[]{3, 0, 3});
                for (boolean flag : new boolean[]{true, false}) {
                    same(kernels, new Scatter(flag), 0, numbers(dtype, 1, 5, 7), rows, numbers(dtype, 2, 3, 7));
                    same(kernels, new PutAlongAxis(0, flag), 0, numbers(dtype, 1, 5, 3),
                            Tensor.of(new long[]{3, 0, 3}, 1, 3),
                            numbers(dtype, 2, 1, 3));
                }
                same(kernels, new ScatterNd(ScatterNd.Function.ADD), 0, numbers(dtype, 1, 5, 7),
                        Tensor.of(new long[]{3, 0, 3}, 3, 1),
                        numbers(dtype, 2, 3, 7));
            }
        }
    }

    @Test
    void onlyWhatIsDescribedAlike() {
        TensorSpec x = TensorSpec.of(DType.FLOAT32, 4, 6);
        TensorSpec row = TensorSpec.of(DType.FLOAT32, 6);
        Computation add = Binary.of(Binary.Function.ADD);
        assertTrue(add.inPlace(0, x, row, x));
        assertFalse(add.inPlace(1, x, row, x), "a row is not the whole");
        assertFalse(Unary.of(Unary.Function.RELU).inPlace(0, x,
                new TensorSpec(DType.FLOAT32, x.shape(), Layout.strided(1, 4))), "strides");
        assertFalse(new Copy(DType.FLOAT64).inPlace(0, x, x.with(DType.FLOAT64)), "type");
        assertFalse(Binary.of(Binary.Function.LESS).inPlace(0, x, x, x.with(DType.BOOL)), "type");
        TensorSpec repeated = new TensorSpec(DType.FLOAT32, x.shape(), Layout.strided(0, 1));
        assertFalse(Copy.PLAIN.inPlace(0, repeated, repeated), "a repeated row is several elements of the result");
        TensorSpec blocked = new TensorSpec(DType.FLOAT32, x.shape(), new Layout.Opaque("onednn", new byte[]{1}, 96));
        assertFalse(Copy.PLAIN.inPlace(0, blocked, blocked),
                "no one knows what an opaque layout holds between its elements");
        assertFalse(new Binary(Binary.Function.ADD, List.of(new PostOp.Accumulate(1))).inPlace(0, x, x, x),
                "accumulated");
        assertFalse(MatMul.PLAIN.inPlace(0, x, x, x), "every element is read many times");
        List<Computation> others = new ArrayList<>(
                List.of(new Reduction(Reduction.Function.SUM, List.of(), true), new Scan(0, false, false)));
        others.forEach(other -> assertFalse(other.inPlace(0, x, x), other.operation()));
        assertFalse(new UnaryGrad(Unary.Function.RELU, 0, 0).inPlace(0, x, null, x, x), "only dy");
        assertFalse(new Dropout(0.5f, true).inPlace(1, x, TensorSpec.of(DType.INT64, 2), x, x.with(DType.UINT8)),
                "only x");
    }
}

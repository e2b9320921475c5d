package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
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
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormFactors;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Kernels on images whose channels are innermost, with weights as they are and packed, give what plain Java gives for
 * dense ones.
 */
class ChannelsLastKernelsTest {
    private static final float BOUND = 2e-5f;

    @BeforeAll
    static void theLibraryIsThere() {
        Assumptions.assumeTrue(OneDnn.status().loaded(), "oneDNN is not there");
    }

    private static Tensor numbers(long seed, long... dims) {
        Random random = new Random(seed);
        double[] numbers = random.doubles(Shape.of(dims).size(), -1, 1).toArray();
        return Tensor.of(DType.FLOAT32, numbers, dims);
    }

    private static TensorSpec channelsLast(Shape shape) {
        long[] dims = shape.dims();
        long[] strides = new long[dims.length];
        strides[1] = 1;
        long step = dims[1];
        for (int i = dims.length - 1; i > 1; i--) {
            strides[i] = step;
            step *= dims[i];
        }
        strides[0] = step;
        return new TensorSpec(DType.FLOAT32, shape, Layout.strided(strides));
    }

    private static Tensor turned(Tensor dense) {
        Tensor turned = Tensor.allocate(DType.FLOAT32, dense.shape().dims());
        Tensor view = new Tensor(turned.buffer(), turned.offset(), channelsLast(dense.shape()));
        KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{view}, dense);
        return view;
    }

    private static float[] dense(Tensor turned) {
        Tensor dense = Tensor.allocate(DType.FLOAT32, turned.shape().dims());
        KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{dense}, turned);
        return dense.toFloatArray();
    }

    private static Tensor empty(Shape shape) {
        Tensor empty = Tensor.allocate(DType.FLOAT32, shape.dims());
        empty.memory().fill((byte) 0x7f);
        return new Tensor(empty.buffer(), empty.offset(), channelsLast(shape));
    }

    /** Weights plain and packed; operands of the result's shape lie as it does. */
    private static String check(Convolution convolution, Tensor... inputs) {
        Tensor expected = KernelRun.run(Kernels.portable(), convolution, inputs)[0];
        Tensor out = empty(expected.shape());
        Tensor[] arguments = Arrays.copyOf(inputs, inputs.length + 1);
        arguments[inputs.length] = out;
        arguments[0] = turned(inputs[0]);
        for (int i = 2; i < inputs.length; i++) {
            arguments[i] = inputs[i].shape().equals(expected.shape()) ? turned(inputs[i]) : inputs[i];
        }
        String where = convolution + " of " + Arrays.stream(inputs).map(each -> each.shape().toString()).toList();
        TensorSpec preferred;
        try (Kernel kernel = Kernels.system().prepare(convolution, Place.CPU, specs(arguments))) {
            assertEquals("onednn", kernel.provider(), where);
            kernel.run(arguments, KernelContext.current());
            preferred = kernel.preferred(1, inputs[1].spec());
        }
        assertClose(expected, out, where);
        if (!(preferred.layout() instanceof Layout.Opaque layout)) {
            return "";
        }
        arguments[1] = Tensor.allocate(Devices.system().host(), preferred);
        TensorSpec grouped = Convolution.packedWeights(inputs[1].spec(), convolution.groups());
        KernelRun.into(Kernels.system(), Copy.PLAIN,
                new Tensor[]{new Tensor(arguments[1].buffer(), arguments[1].offset(),
                        new TensorSpec(preferred.dtype(), grouped.shape(), preferred.layout()))},
                new Tensor(inputs[1].buffer(), inputs[1].offset(), grouped));
        Tensor other = empty(expected.shape());
        arguments[inputs.length] = other;
        try (Kernel kernel = Kernels.system().prepare(convolution, Place.CPU, specs(arguments))) {
            kernel.run(arguments, KernelContext.current());
        }
        assertClose(expected, other, where + ", packed");
        return layout.library();
    }

    private static @Nullable TensorSpec[] specs(Tensor... tensors) {
        return Arrays.stream(tensors).map(Tensor::spec).toArray(TensorSpec[]::new);
    }

    private static void assertClose(Tensor expected, Tensor found, String where) {
        float[] a = expected.toFloatArray();
        float largest = 1;
        for (float value : a) {
            largest = Math.max(largest, Math.abs(value));
        }
        assertArrayEquals(a, dense(found), BOUND * largest, where);
    }

    private static final List<PostOp> ALL = List.of(new PostOp.Combine(Binary.Function.MULTIPLY),
            new PostOp.Combine(Binary.Function.ADD),
            new PostOp.Combine(Binary.Function.ADD), new PostOp.Apply(Unary.Function.TANH, 0, 0));

    @Test
    void convolutions() {
        for (long n : new long[]{1, 3}) {
            check(new Convolution(Window.of(2, 1, 1), 1, false, List.of()), numbers(1, n, 16, 9, 7),
                    numbers(2, 24, 16, 3, 3));
            check(new Convolution(Window.of(2, 2, 0), 1, true, List.of()), numbers(1, n, 5, 8, 8),
                    numbers(2, 7, 5, 1, 1), numbers(3, 7));
            check(new Convolution(Window.of(2, 1, 1), 16, false, List.of()), numbers(1, n, 16, 8, 8),
                    numbers(2, 16, 1, 3, 3));
            check(new Convolution(Window.of(2, 1, 1), 1, false, ALL), numbers(1, n, 16, 8, 8), numbers(2, 16, 16, 3, 3),
                    numbers(3, 16, 1, 1), numbers(4, 16, 1, 1), numbers(5, n, 16, 8, 8));
        }
    }

    @Test
    void fewPixelsAreProducts() {
        String matrix = "onednn, as a matrix";
        Window odd = Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{0, 2}, new int[]{1, 2});
        for (long n : new long[]{1, 2, 5}) {
            assertEquals(matrix,
                    check(new Convolution(Window.of(2, 1, 1), 1, false, List.of()), numbers(1, n, 128, 2, 2),
                            numbers(2, 128, 128, 3, 3)));
            assertEquals(matrix,
                    check(new Convolution(Window.of(2, 1, 1), 1, true, ALL), numbers(1, n, 128, 2, 2),
                            numbers(2, 160, 128, 3, 3),
                            numbers(3, 160), numbers(4, 160, 1, 1), numbers(5, 1, 160, 1, 1),
                            numbers(6, n, 160, 2, 2)));
            assertEquals(matrix,
                    check(new Convolution(odd, 1, true, List.of()), numbers(1, n, 200, 3, 5),
                            numbers(2, 140, 200, 3, 2),
                            numbers(3, 140)));
            assertEquals(matrix,
                    check(new Convolution(Window.of(3, 1, 1), 1, false, List.of()), numbers(1, n, 64, 1, 2, 2),
                            numbers(2, 96, 64, 3, 3, 3)));
        }
    }

    @Test
    void poolings() {
        Random random = new Random(1);
        for (Pooling.Kind kind : Pooling.Kind.values()) {
            for (float odd : new float[]{0, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
                Pooling pooling = new Pooling(kind, List.of(3L, 3L), Window.of(2, 2, 1));
                float[] values = numbers(2, 2, 20, 9, 8).toFloatArray();
                values[random.nextInt(values.length)] = odd;
                Tensor x = Tensor.of(values, 2, 20, 9, 8);
                Tensor expected = KernelRun.run(Kernels.portable(), pooling, x)[0];
                Tensor y = empty(expected.shape());
                KernelRun.into(Kernels.system(), pooling, new Tensor[]{y}, turned(x));
                assertArrayEquals(expected.toFloatArray(), dense(y), 1e-6f, kind + " with " + odd);
            }
        }
    }

    /** Overlapping elements are not as many as their places. */
    @Test
    void overlappingWindowsArePooled() {
        Tensor memory = numbers(1, 9);
        Tensor x = new Tensor(memory.buffer(), memory.offset(),
                new TensorSpec(DType.FLOAT32, Shape.of(1, 1, 3, 3), Layout.strided(9, 9, 2, 2)));
        Pooling pooling = new Pooling(Pooling.Kind.MAX, List.of(2L, 2L), Window.of(2, 1, 0));
        assertArrayEquals(KernelRun.run(Kernels.portable(), pooling, x)[0].toFloatArray(),
                KernelRun.run(Kernels.system(), pooling, x)[0].toFloatArray());
    }

    @Test
    void factorsDoWhatTheNormalisationDoes() {
        for (int channels : new int[]{1, 3, 1000}) {
            List<Tensor> parameters = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                float[] values = numbers(i, channels).toFloatArray();
                for (int c = 0; c < values.length; c++) {
                    values[c] = i == 3 ? Math.abs(values[c]) : values[c];
                }
                parameters.add(Tensor.of(values, channels));
            }
            Tensor x = numbers(7, 2, channels, 2, 2);
            float[] y = KernelRun.run(Kernels.portable(), new BatchNorm(1e-3f, false), x, parameters.get(0),
                    parameters.get(1),
                    parameters.get(2), parameters.get(3))[0].toFloatArray();
            Tensor[] factors = KernelRun.run(Kernels.system(), new BatchNormFactors(1e-3f),
                    parameters.toArray(Tensor[]::new));
            float[] values = x.toFloatArray();
            for (int i = 0; i < values.length; i++) {
                int c = i / 4 % channels;
                float found = values[i] * factors[0].toFloatArray()[c] + factors[1].toFloatArray()[c];
                assertEquals(y[i], found, BOUND * Math.max(1, Math.abs(y[i])), "channel " + c + " of " + channels);
            }
        }
    }

    @Test
    void factorsAreOfFloat32Vectors() {
        Tensor doubles = Tensor.of(DType.FLOAT64, new double[]{1, 2}, 2);
        IllegalArgumentException wrong = assertThrows(IllegalArgumentException.class,
                () -> new BatchNormFactors(0).infer(doubles.spec(), doubles.spec(), doubles.spec(), doubles.spec()));
        assertTrue(String.valueOf(wrong.getMessage()).contains("float32"), wrong.toString());
        assertInstanceOf(Layout.RowMajor.class,
                new BatchNormFactors(0).infer(specs(numbers(1, 2), numbers(1, 2), numbers(1, 2),
                        numbers(1, 2)))[1].layout());
    }
}

package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Depthwise convolutions with dilation of lines with channels innermost give what the portable kernel gives. */
class DilatedDepthwiseTest {
    private static final long SEED = 104;
    private static final float BOUND = 2e-5f;
    private static final int[] CHANNELS_SECOND = {0, 3, 1, 2};

    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(), () -> "oneDNN is not there: " + OneDnn.status().problem());
    }

    private static Tensor random(SplittableRandom random, long... dims) {
        float[] values = new float[(int) Arrays.stream(dims).reduce(1, (a, b) -> a * b)];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextDouble(-2, 2);
        }
        return Tensor.of(values, dims);
    }

    private static Kernel prepare(Kernels kernels, Convolution convolution, Tensor[] arguments) {
        return kernels.prepare(convolution, Place.CPU,
                Arrays.stream(arguments).map(Tensor::spec).toArray(TensorSpec[]::new));
    }

    /** Runs a convolution of [n, 1, l, c] in memory. */
    private static float[] run(Kernels kernels, Convolution convolution, Tensor[] inputs, long[] result) {
        Tensor y = Tensor.of(new float[(int) Arrays.stream(result).reduce(1, (a, b) -> a * b)], result);
        Tensor[] arguments = Arrays.copyOf(inputs, inputs.length + 1);
        arguments[0] = inputs[0].transpose(CHANNELS_SECOND);
        arguments[inputs.length] = y.transpose(CHANNELS_SECOND);
        try (Kernel kernel = prepare(kernels, convolution, arguments)) {
            kernel.run(arguments, KernelContext.current());
        }
        return y.toFloatArray();
    }

    private static void assertAlike(Convolution convolution, Tensor[] inputs, long[] result, String where) {
        float[] expected = run(Kernels.portable(), convolution, inputs, result);
        float[] found = run(Kernels.system(), convolution, inputs, result);
        float largest = 1;
        for (float value : expected) {
            largest = Float.isFinite(value) ? Math.max(largest, Math.abs(value)) : largest;
        }
        for (int i = 0; i < expected.length; i++) {
            boolean alike = Float.isFinite(expected[i])
                    ? Math.abs(expected[i] - found[i]) <= BOUND * largest
                    : Float.compare(expected[i], found[i]) == 0;
            assertTrue(alike, where + ", element " + i + ": " + expected[i] + ", but found " + found[i]);
        }
    }

    private static Window window(int before, int after, int dilation) {
        return Window.of(new int[]{1, 1}, new int[]{0, before}, new int[]{0, after}, new int[]{1, dilation});
    }

    @Test
    void randomShapes() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 60; i++) {
            int batch = random.nextInt(1, 5);
            int channels = random.nextInt(2, i % 3 == 0 ? 400 : 40);
            int length = random.nextInt(1, 90);
            int kernel = random.nextInt(1, i % 5 == 0 ? 40 : 8);
            int dilation = random.nextInt(2, 20);
            int reach = (kernel - 1) * dilation;
            int before = random.nextInt(0, reach + 6);
            int after = Math.max(random.nextInt(0, reach + 6), reach + 1 - length - before);
            int places = length + before + after - reach;
            List<PostOp> postOps = new ArrayList<>();
            List<Tensor> inputs = new ArrayList<>(List.of(random(random, batch, 1, length, channels),
                    random(random, channels, 1, 1, kernel)));
            if (random.nextBoolean()) {
                postOps.add(new PostOp.Combine(Binary.Function.ADD));
                inputs.add(random(random, channels, 1, 1));
            }
            if (random.nextInt(3) == 0) {
                postOps.add(new PostOp.Apply(Unary.Function.RELU, 0, 0));
            }
            assertAlike(new Convolution(window(before, after, dilation), channels, false, List.copyOf(postOps)),
                    inputs.toArray(Tensor[]::new), new long[]{batch, 1, places, channels},
                    "seed " + SEED + ", convolution " + i);
        }
    }

    /** Elements of the window in the padding take no part, even if their weights are infinite. */
    @Test
    void specialValues() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (float odd : new float[]{Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            float[] x = random(random, 30 * 8).toFloatArray();
            float[] w = random(random, 8 * 5).toFloatArray();
            x[100] = odd;
            w[5] = odd;
            assertAlike(new Convolution(window(16, 16, 8), 8, false, List.of()),
                    new Tensor[]{Tensor.of(x, 1, 1, 30, 8), Tensor.of(w, 8, 1, 1, 5)}, new long[]{1, 1, 30, 8},
                    "with " + odd);
        }
    }

    @Test
    void whereTheLibraryMultipliesMatrices() {
        Tensor x = Tensor.of(new float[64 * 16], 1, 1, 64, 16).transpose(CHANNELS_SECOND);
        Tensor w = Tensor.of(new float[16 * 3], 16, 1, 1, 3);
        assertEquals(OneDnnKernels.PROVIDER, assertInstanceOf(DilatedDepthwise.class, DilatedDepthwise
                .of(new Convolution(window(8, 8, 8), 16, false, List.of()), new TensorSpec[]{x.spec(), w.spec(),
                        x.spec()}))
                .provider());
        for (Convolution other : List.of(new Convolution(window(2, 2, 2), 16, false, List.of()),
                new Convolution(window(8, 8, 8), 1, false, List.of()))) {
            assertEquals(null, DilatedDepthwise.of(other, new TensorSpec[]{x.spec(), w.spec(), x.spec()}));
        }
    }
}

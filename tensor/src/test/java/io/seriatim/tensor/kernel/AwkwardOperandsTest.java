package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Operands without elements, with strides or of other types than the rest, and values that swallow others. */
class AwkwardOperandsTest {
    private static final String REGISTRIES = "io.seriatim.tensor.kernel.KernelsTest#registries";
    private static final PostOp ADD = new PostOp.Combine(Binary.Function.ADD);

    private static Tensor numbers(DType dtype, long... dims) {
        return Tensor.of(dtype, new SplittableRandom(5).doubles(Shape.of(dims).size(), 0.1, 1).toArray(), dims);
    }

    private static Tensor numbers(long... dims) {
        return numbers(DType.FLOAT32, dims);
    }

    /** A vector whose elements do not lie next to each other. */
    private static Tensor apart(long length) {
        return numbers(length, 2).select(1, 1);
    }

    @Test
    void largeLogitsKeepTheDigitsOfTheLogarithm() {
        double sum = Math.log1p(Math.exp(-1));
        for (double offset : new double[]{0, 1e6, 1e12, 1e15, -1e15}) {
            Tensor x = Tensor.of(DType.FLOAT64, new double[]{offset, offset + 1}, 1, 2);
            double[] got = KernelRun.run(Kernels.portable(), new Softmax(1, true), x)[0].toDoubleArray();
            assertArrayEquals(new double[]{-1 - sum, -sum}, got, 1e-15, "logits from " + offset);
            Tensor[] entropy = KernelRun.run(Kernels.portable(), new CrossEntropy(1, false, -100), x,
                    Tensor.of(new long[]{0}, 1, 1));
            assertEquals(1 + sum, entropy[1].getDouble(0, 0), 1e-15, "logits from " + offset);
            double[] softmax = KernelRun.run(Kernels.portable(), new Softmax(1, false), x)[0].toDoubleArray();
            assertArrayEquals(new double[]{Math.exp(-1 - sum), Math.exp(-sum)}, softmax, 1e-15,
                    "logits from " + offset);
        }
    }

    @ParameterizedTest
    @MethodSource(REGISTRIES)
    void gradientsOfScaleAndBiasAreZeroWhereThereIsNothing(Kernels kernels) {
        for (long[] dims : new long[][]{{0, 4, 3}, {2, 4, 0}, {0, 4, 0}}) {
            Tensor x = Tensor.allocate(DType.FLOAT32, dims);
            Tensor four = numbers(4);
            Tensor groups = numbers(dims[0], 2);
            zeros(4, KernelRun.run(kernels, new GroupNormGrad(new GroupNorm(2, 1e-5f, true, true)), x, x, four, groups,
                    groups), 2);
            zeros(4, KernelRun.run(kernels, new GroupNormGrad(new GroupNorm(2, 1e-5f, false, true)), x, x, groups,
                    groups), 1);
            zeros(4, KernelRun.run(kernels, new GroupNormGrad(new GroupNorm(2, 1e-5f, true, false)), x, x, four, groups,
                    groups), 1);
            for (boolean training : new boolean[]{true, false}) {
                zeros(4, KernelRun.run(kernels, new BatchNormGrad(new BatchNorm(1e-5f, training)), x, x, four, four,
                        four), 2);
            }
        }
        Tensor rows = Tensor.allocate(DType.FLOAT32, 0, 3);
        Tensor none = Tensor.allocate(DType.FLOAT32, 0);
        zeros(3, KernelRun.run(kernels, new LayerNormGrad(new LayerNorm(1, 1e-5f, true, true)), rows, rows, numbers(3),
                none, none), 2);
        zeros(3, KernelRun.run(kernels, new LayerNormGrad(new LayerNorm(1, 1e-5f, false, true)), rows, rows, none,
                none), 1);
    }

    private static void zeros(int length, Tensor[] gradients, int parameters) {
        assertEquals(1 + parameters, gradients.length);
        for (int i = 1; i < gradients.length; i++) {
            assertArrayEquals(new float[length], gradients[i].toFloatArray(),
                    "gradient " + i + " of " + gradients[0].spec());
        }
    }

    @ParameterizedTest
    @MethodSource(REGISTRIES)
    void biasAndPostOpsMayBeViews(Kernels kernels) {
        Tensor images = numbers(2, 3, 4, 4);
        Tensor weights = numbers(3, 3, 2, 2);
        Window window = Window.of(2, 1, 0);
        sameAsDense(kernels, new Convolution(window, 1, true, List.of()), images, weights, apart(3));
        Convolution combined = new Convolution(window, 1, false, List.of(ADD));
        sameAsDense(kernels, combined, images, weights, apart(3));
        sameAsDense(kernels, combined, images, weights, numbers(3, 3).transpose());
        sameAsDense(kernels, combined, images, weights, numbers(2, 3, 3, 3).transpose(0, 1, 3, 2));
        sameAsDense(kernels, combined, images, weights, numbers());
        MatMul biased = new MatMul(false, false, true, List.of());
        sameAsDense(kernels, biased, numbers(4, 5), numbers(5, 3), apart(3));
        sameAsDense(kernels, biased, numbers(4, 5), numbers(5, 4), numbers(4, 4).transpose());
        sameAsDense(kernels, biased, numbers(2, 4, 5), numbers(5, 3), apart(3));
        sameAsDense(kernels, new MatMul(false, false, false, List.of(ADD)), numbers(4, 5), numbers(5, 3), apart(3));
        sameAsDense(kernels, new BatchNorm(1e-5f, true), images, apart(3), apart(3));
        sameAsDense(kernels, new BatchNorm(1e-5f, false), images, numbers(3), apart(3), apart(3), apart(3));
        sameAsDense(kernels, new BatchNormGrad(new BatchNorm(1e-5f, true)), images, images, apart(3), apart(3),
                apart(3));
    }

    private static void sameAsDense(Kernels kernels, Computation computation, Tensor... inputs) {
        List<Tensor> dense = new ArrayList<>();
        for (Tensor input : inputs) {
            dense.add(Tensor.of(input.toFloatArray(), input.shape().dims()));
        }
        same(kernels, computation, dense.toArray(Tensor[]::new), inputs);
    }

    private static void same(Kernels kernels, Computation computation, Tensor[] expected, Tensor... inputs) {
        Tensor[] right = KernelRun.run(Kernels.portable(), computation, expected);
        Tensor[] got = KernelRun.run(kernels, computation, inputs);
        for (int i = 0; i < got.length; i++) {
            assertArrayEquals(right[i].toFloatArray(), got[i].toFloatArray(), 1e-4f,
                    "output " + i + " of " + computation);
        }
    }

    @ParameterizedTest
    @MethodSource(REGISTRIES)
    void biasAndPostOpsMayBeOfAnotherFloatingType(Kernels kernels) {
        Tensor images = numbers(2, 3, 4, 4);
        Tensor weights = numbers(3, 3, 2, 2);
        Window window = Window.of(2, 1, 0);
        for (DType dtype : new DType[]{DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16}) {
            Tensor vector = numbers(dtype, 3);
            Tensor dense = Tensor.of(vector.toFloatArray(), 3);
            List<Computation> convolutions = List.of(new Convolution(window, 1, true, List.of()),
                    new Convolution(window, 1, false, List.of(ADD)));
            for (Computation computation : convolutions) {
                same(kernels, computation, new Tensor[]{images, weights, dense}, images, weights, vector);
            }
            for (Computation computation : List.of(new MatMul(false, false, true, List.of()),
                    new MatMul(false, false, false, List.of(ADD)))) {
                same(kernels, computation, new Tensor[]{numbers(4, 5), numbers(5, 3), dense}, numbers(4, 5),
                        numbers(5, 3), vector);
            }
        }
    }
}

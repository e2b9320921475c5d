package io.seriatim.tensor.kernel;

import static io.seriatim.tensor.kernel.FastKernels.FLOATS;
import static io.seriatim.tensor.kernel.FastKernels.compare;
import static io.seriatim.tensor.kernel.FastKernels.dims;
import static io.seriatim.tensor.kernel.FastKernels.ordinary;
import static io.seriatim.tensor.kernel.FastKernels.special;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionAddWeights;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.kernel.FastKernels.Case;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Convolutions and their gradients by the kernels that are used, against the portable ones. */
class FastConvolutionsTest {
    @BeforeAll
    static void needsTheLibrary() {
        FastKernels.needsTheLibrary();
    }

    static Stream<Case> convolutions() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            Window plain = Window.of(2, 1, 1);
            Window odd = Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{0, 2}, new int[]{1, 2});
            cases.add(new Case("3x3", new Convolution(plain, 1, false, List.of()), dtype, dims(2, 3, 9, 7),
                    dims(4, 3, 3, 3)));
            cases.add(
                    new Case("odd window", new Convolution(odd, 1, true, List.of()), dtype, dims(1, 5, 13, 11),
                            dims(7, 5, 3, 2), dims(7)));
            cases.add(new Case("groups", new Convolution(plain, 2, false, List.of()), dtype, dims(2, 6, 8, 8),
                    dims(4, 3, 3, 3)));
            cases.add(
                    new Case("depthwise", new Convolution(plain, 6, true, List.of()), dtype, dims(2, 6, 8, 8),
                            dims(6, 1, 3, 3), dims(6)));
            cases.add(new Case("with relu",
                    new Convolution(plain, 1, true, List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0))), dtype,
                    dims(1, 16, 8, 8), dims(16, 16, 3, 3), dims(16)));
            cases.add(new Case("input gradient", new ConvolutionGradInput(plain, 1, List.of(9L, 7L)), dtype,
                    dims(2, 4, 9, 7),
                    dims(4, 3, 3, 3)));
            cases.add(new Case("input gradient, groups", new ConvolutionGradInput(plain, 2, List.of(8L, 8L)), dtype,
                    dims(2, 4, 8, 8),
                    dims(4, 3, 3, 3)));
            cases.add(new Case("weight gradient", new ConvolutionGradWeights(plain, 1, true, List.of(3L, 3L)), dtype,
                    dims(2, 3, 9, 7),
                    dims(2, 4, 9, 7)));
            cases.add(new Case("weight gradient, groups", new ConvolutionGradWeights(plain, 2, false, List.of(3L, 3L)),
                    dtype,
                    dims(2, 6, 8, 8), dims(2, 4, 8, 8)));
            cases.add(new Case("weight gradient added", new ConvolutionAddWeights(
                    new ConvolutionGradWeights(plain, 1, false, List.of(3L, 3L))), dtype, dims(2, 3, 9, 7),
                    dims(2, 4, 9, 7), dims(4, 3, 3, 3)));
            cases.add(new Case("weight gradient added, groups", new ConvolutionAddWeights(
                    new ConvolutionGradWeights(plain, 2, false, List.of(3L, 3L))), dtype, dims(2, 6, 8, 8),
                    dims(2, 4, 8, 8), dims(4, 3, 3, 3)));
        }
        // Weights enough for products of matrices.
        Window odd = Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{0, 2}, new int[]{1, 2});
        for (long images : new long[]{1, 3}) {
            String many = ", many weights, " + images;
            cases.add(new Case("3x3" + many, new Convolution(Window.of(2, 1, 1), 1, true, List.of()), DType.FLOAT32,
                    dims(images, 48, 3, 2), dims(64, 48, 3, 3), dims(64)));
            cases.add(new Case("with post-ops" + many,
                    new Convolution(Window.of(2, 1, 1), 1, false,
                            List.of(new PostOp.Combine(Binary.Function.ADD),
                                    new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                    DType.FLOAT32, dims(images, 48, 3, 2), dims(64, 48, 3, 3), dims(64, 1, 1)));
            cases.add(new Case("odd window" + many, new Convolution(odd, 1, false, List.of()), DType.FLOAT32,
                    dims(images, 48, 5, 4),
                    dims(64, 48, 3, 2)));
            cases.add(new Case("three dimensions" + many, new Convolution(Window.of(3, 2, 1), 1, false, List.of()),
                    DType.FLOAT32,
                    dims(images, 32, 2, 3, 4), dims(32, 32, 3, 3, 3)));
            cases.add(new Case("input gradient" + many,
                    new ConvolutionGradInput(Window.of(2, 1, 1), 1, List.of(3L, 2L)), DType.FLOAT32,
                    dims(images, 64, 3, 2), dims(64, 48, 3, 3)));
            cases.add(new Case("input gradient, odd window" + many, new ConvolutionGradInput(odd, 1, List.of(5L, 4L)),
                    DType.FLOAT32,
                    dims(images, 64, 2, 4), dims(64, 48, 3, 2)));
            cases.add(new Case("weight gradient" + many,
                    new ConvolutionGradWeights(Window.of(2, 1, 1), 1, true, List.of(3L, 3L)),
                    DType.FLOAT32, dims(images, 48, 3, 2), dims(images, 64, 3, 2)));
            cases.add(new Case("weight gradient added" + many, new ConvolutionAddWeights(
                    new ConvolutionGradWeights(Window.of(2, 1, 1), 1, false, List.of(3L, 3L))), DType.FLOAT32,
                    dims(images, 48, 3, 2), dims(images, 64, 3, 2), dims(64, 48, 3, 3)));
            cases.add(new Case("pointwise weight gradient added" + many, new ConvolutionAddWeights(
                    new ConvolutionGradWeights(Window.of(2, 1, 0), 1, false, List.of(1L, 1L))), DType.FLOAT32,
                    dims(images, 32, 9, 9), dims(images, 24, 9, 9), dims(24, 32, 1, 1)));
            cases.add(new Case("weight gradient, odd window" + many,
                    new ConvolutionGradWeights(odd, 1, false, List.of(3L, 2L)),
                    DType.FLOAT32, dims(images, 48, 5, 4), dims(images, 64, 2, 4)));
            cases.add(
                    new Case("weight gradient, one place" + many,
                            new ConvolutionGradWeights(Window.of(2, 1, 0), 1, true, List.of(3L, 3L)),
                            DType.FLOAT32, dims(images, 48, 3, 3), dims(images, 64, 1, 1)));
        }
        // Few channels: products with columns of one image, of all, and of some at a time.
        Window skewed = Window.of(new int[]{1, 1}, new int[]{3, 0}, new int[]{0, 2}, new int[]{1, 2});
        for (long images : new long[]{1, 7, 12}) {
            String few = ", few channels, " + images;
            cases.add(
                    new Case("5x5" + few, new Convolution(Window.of(2, 1, 0), 1, true, List.of()), DType.FLOAT32,
                            dims(images, 20, 12, 12),
                            dims(24, 20, 5, 5), dims(24)));
            cases.add(new Case("with post-ops" + few,
                    new Convolution(Window.of(2, 1, 1), 1, false,
                            List.of(new PostOp.Combine(Binary.Function.ADD),
                                    new PostOp.Apply(Unary.Function.RELU, 0, 0),
                                    new PostOp.Combine(Binary.Function.MULTIPLY))),
                    DType.FLOAT32, dims(images, 3, 9, 10), dims(5, 3, 3, 3), dims(5, 1, 1), dims(1)));
            cases.add(new Case("skewed window" + few, new Convolution(skewed, 1, false, List.of()), DType.FLOAT32,
                    dims(images, 3, 9, 10),
                    dims(20, 3, 3, 2)));
            cases.add(new Case("one dimension" + few, new Convolution(Window.of(1, 1, 1), 1, false, List.of()),
                    DType.FLOAT32,
                    dims(images, 3, 9), dims(4, 3, 3)));
            cases.add(new Case("three dimensions" + few, new Convolution(Window.of(3, 1, 1), 1, false, List.of()),
                    DType.FLOAT32,
                    dims(images, 2, 5, 6, 9), dims(20, 2, 3, 3, 3)));
            cases.add(new Case("input gradient" + few,
                    new ConvolutionGradInput(Window.of(2, 1, 0), 1, List.of(12L, 12L)), DType.FLOAT32,
                    dims(images, 24, 8, 8), dims(24, 20, 5, 5)));
            cases.add(new Case("input gradient, skewed window" + few,
                    new ConvolutionGradInput(skewed, 1, List.of(9L, 10L)), DType.FLOAT32,
                    dims(images, 20, 10, 10), dims(20, 3, 3, 2)));
        }
        cases.addAll(halfConvolutions());
        for (long images : new long[]{1, 2, 5}) {
            cases.add(new Case("weight gradient, pointwise, " + images,
                    new ConvolutionGradWeights(Window.of(2, 1, 0), 1, false, List.of(1L, 1L)), DType.FLOAT32,
                    dims(images, 20, 9, 8),
                    dims(images, 30, 9, 8)));
        }
        cases.add(new Case("kernel beyond the image", new Convolution(Window.of(2, 1, 6), 1, false, List.of()),
                DType.FLOAT32,
                dims(2, 3, 2, 4), dims(20, 3, 7, 7)));
        cases.add(new Case("input gradient, kernel beyond the image",
                new ConvolutionGradInput(Window.of(2, 1, 6), 1, List.of(2L, 4L)),
                DType.FLOAT32, dims(2, 20, 8, 10), dims(20, 3, 7, 7)));
        cases.add(new Case("one dimension", new Convolution(Window.of(1, 1, 1), 1, false, List.of()), DType.FLOAT32,
                dims(2, 3, 9),
                dims(4, 3, 3)));
        cases.add(new Case("three dimensions", new Convolution(Window.of(3, 1, 1), 1, false, List.of()), DType.FLOAT32,
                dims(1, 2, 5, 6, 7),
                dims(3, 2, 3, 3, 3)));
        return cases.stream();
    }

    /**
     * Of bfloat16, for which processors have units of their own: images and weights large enough for the kernels that
     * use them, products of matrices among them, of even and odd numbers of images.
     */
    private static List<Case> halfConvolutions() {
        List<Case> cases = new ArrayList<>();
        DType half = DType.BFLOAT16;
        Window one = Window.of(2, 1, 1);
        Window two = Window.of(2, 2, 1);
        Window odd = Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{0, 2}, new int[]{1, 2});
        for (long images : new long[]{1, 2, 3}) {
            String of = " of halves, " + images;
            cases.add(new Case("3x3" + of, new Convolution(one, 1, true, List.of()), half, dims(images, 33, 9, 10),
                    dims(37, 33, 3, 3),
                    dims(37)));
            cases.add(new Case("stride" + of,
                    new Convolution(two, 1, false,
                            List.of(new PostOp.Combine(Binary.Function.ADD),
                                    new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                    half, dims(images, 3, 19, 20), dims(40, 3, 3, 3), dims(images, 40, 10, 10)));
            cases.add(new Case("groups" + of, new Convolution(two, 2, false, List.of()), half, dims(images, 32, 9, 10),
                    dims(48, 16, 3, 3)));
            cases.add(new Case("input gradient" + of, new ConvolutionGradInput(one, 1, List.of(9L, 10L)), half,
                    dims(images, 37, 9, 10),
                    dims(37, 33, 3, 3)));
            cases.add(new Case("input gradient, stride, groups" + of,
                    new ConvolutionGradInput(two, 2, List.of(9L, 10L)), half,
                    dims(images, 48, 5, 5), dims(48, 16, 3, 3)));
            cases.add(new Case("input gradient, pointwise" + of,
                    new ConvolutionGradInput(Window.of(2, 1, 0), 1, List.of(9L, 10L)), half,
                    dims(images, 37, 9, 10), dims(37, 33, 1, 1)));
            cases.add(new Case("weight gradient" + of, new ConvolutionGradWeights(one, 1, true, List.of(3L, 3L)), half,
                    dims(images, 5, 9, 10), dims(images, 37, 9, 10)));
            cases.add(new Case("weight gradient, stride, groups" + of,
                    new ConvolutionGradWeights(two, 2, false, List.of(3L, 3L)), half,
                    dims(images, 32, 9, 10), dims(images, 48, 5, 5)));
            cases.add(new Case("weight gradient, pointwise" + of,
                    new ConvolutionGradWeights(Window.of(2, 1, 0), 1, false, List.of(1L, 1L)),
                    half, dims(images, 33, 9, 10), dims(images, 37, 9, 10)));
            // Weights enough for products of matrices.
            cases.add(new Case("many weights" + of, new Convolution(odd, 1, true, List.of()), half,
                    dims(images, 48, 5, 4),
                    dims(64, 48, 3, 2), dims(64)));
            cases.add(new Case("input gradient, many weights" + of, new ConvolutionGradInput(odd, 1, List.of(5L, 4L)),
                    half,
                    dims(images, 64, 2, 4), dims(64, 48, 3, 2)));
            cases.add(new Case("weight gradient, many weights" + of,
                    new ConvolutionGradWeights(odd, 1, false, List.of(3L, 2L)), half,
                    dims(images, 48, 5, 4), dims(images, 64, 2, 4)));
            cases.add(new Case("weight and bias gradient, many weights" + of,
                    new ConvolutionGradWeights(one, 1, true, List.of(3L, 3L)),
                    half, dims(images, 48, 5, 4), dims(images, 64, 5, 4)));
        }
        return cases;
    }

    @ParameterizedTest
    @MethodSource("convolutions")
    void givesTheSame(Case one) {
        compare(one, ordinary(one));
    }

    /**
     * In bfloat16, too, sums are taken in float32, and what is not a number comes out where it belongs: of an odd
     * number of images the memory beyond them must not.
     */
    @Test
    void convolutionsOfHalvesKeepSpecialValues() {
        for (Case one : halfConvolutions()) {
            if (one.computation() instanceof ConvolutionGradInput
                    || one.computation() instanceof ConvolutionGradWeights) {
                Tensor[] inputs = ordinary(one);
                double[] values = inputs[0].toDoubleArray();
                values[values.length / 2] = Double.NaN;
                inputs[0] = Tensor.of(one.dtype(), values, one.shapes()[0]);
                compare(one, inputs);
                compare(one, ordinary(one));
            }
        }
    }

    /**
     * The library's own moves to the next line wrongly if there is one place in a line, and the window's step is not 1.
     */
    @Test
    void stepsThatAreNeverTakenDoNotMatter() {
        Window window = Window.of(new int[]{1, 3}, new int[]{0, 0}, new int[]{0, 2}, new int[]{1, 1});
        Case one = new Case("one place in a line",
                new Convolution(window, 1, false, List.of(new PostOp.Combine(Binary.Function.ADD))),
                DType.BFLOAT16, dims(3, 162, 4, 1), dims(232, 162, 2, 3), dims(1, 232, 1, 1));
        Tensor[] inputs = ordinary(one);
        compare(one, inputs);
        inputs[2] = Tensor.of(DType.FLOAT32, inputs[2].toDoubleArray(), 1, 232, 1, 1);
        compare(one, inputs);
    }

    /** Also where the processor has no float16 arithmetic: operands are then widened. */
    @Test
    void convolutionsAndProductsOfFloat16UseTheLibrary() {
        DType half = DType.FLOAT16;
        Window window = Window.of(new int[]{2, 1}, new int[]{1, 2}, new int[]{0, 1}, new int[]{1, 1});
        PostOp relu = new PostOp.Apply(Unary.Function.RELU, 0, 0);
        Case convolution = new Case("float16",
                new Convolution(window, 1, true, List.of(relu, new PostOp.Combine(Binary.Function.ADD))), half,
                dims(2, 33, 9, 10), dims(37, 33, 3, 3), dims(37), dims(1, 37, 1, 1));
        Case product = new Case("float16", new MatMul(false, true, true, List.of()), half, dims(3, 17, 65),
                dims(31, 65), dims(31));
        for (Case one : List.of(convolution, product)) {
            Tensor[] inputs = ordinary(one);
            TensorSpec[] specs = Arrays.stream(inputs).map(Tensor::spec).toArray(TensorSpec[]::new);
            TensorSpec[] arguments = Arrays.copyOf(specs, specs.length + 1);
            arguments[specs.length] = one.computation().infer(specs)[0];
            try (Kernel kernel = Kernels.system().prepare(one.computation(), Place.CPU, arguments)) {
                assertEquals("onednn", kernel.provider());
            }
            compare(one, inputs);
        }
        compare(product, special(product));
    }
}

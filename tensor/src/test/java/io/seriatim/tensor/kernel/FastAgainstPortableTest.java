package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The kernels that are used against the portable ones, over awkward shapes and values. */
class FastAgainstPortableTest {
    private static final long SEED = 20261121;
    private static final float[] SPECIAL = {0f, -0f, 1f, -1f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.MIN_VALUE,
            -Float.MIN_VALUE, Float.MIN_NORMAL,
            Float.MAX_VALUE, -Float.MAX_VALUE, 1e-20f, 88f, -88f, 104f, -104f, 0.5f, 1.5f, 2.5f, -2.5f};
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16);

    /** What is compared: a computation and its inputs. */
    @SuppressWarnings("ArrayRecordComponent")
    record Case(String name, Computation computation, DType dtype, long[]... shapes) {
        @Override
        public String toString() {
            return name + " " + dtype;
        }
    }

    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(), () -> "oneDNN is not there, so there is nothing to compare: " + OneDnn.status().problem());
    }

    static long[] dims(long... dims) {
        return dims;
    }

    static Stream<Case> products() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (long n : new long[]{1, 13, 64, 207}) {
                for (int t = 0; t < 4; t++) {
                    boolean tx = (t & 1) != 0;
                    boolean ty = (t & 2) != 0;
                    long k = n / 2 + 1;
                    cases.add(new Case("matmul " + n + (tx ? " x'" : "") + (ty ? " y'" : ""), new MatMul(tx, ty, false, List.of()), dtype,
                            tx ? dims(k, n) : dims(n, k),
                            ty ? dims(n + 3, k) : dims(k, n + 3)));
                }
            }
            cases.add(new Case("empty rows", MatMul.PLAIN, dtype, dims(0, 5), dims(5, 4)));
            cases.add(new Case("empty sum", MatMul.PLAIN, dtype, dims(3, 0), dims(0, 4)));
            cases.add(new Case("vectors", MatMul.PLAIN, dtype, dims(13), dims(13)));
            cases.add(new Case("row by matrix", MatMul.PLAIN, dtype, dims(13), dims(2, 13, 5)));
            cases.add(new Case("matrix by column", MatMul.PLAIN, dtype, dims(2, 7, 13), dims(13)));
            cases.add(new Case("batches", MatMul.PLAIN, dtype, dims(3, 1, 7, 5), dims(2, 5, 4)));
            cases.add(new Case("batch by matrix", MatMul.PLAIN, dtype, dims(3, 2, 7, 5), dims(5, 4)));
            cases.add(new Case("with bias", new MatMul(false, false, true, List.of()), dtype, dims(3, 7, 5), dims(5, 4), dims(4)));
            cases.add(new Case("with bias and relu", new MatMul(false, false, true, List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                    dtype, dims(7, 5), dims(5, 4), dims(4)));
            cases.add(new Case("with a mask", new MatMul(false, true, false,
                    List.of(new PostOp.Apply(Unary.Function.LINEAR, 0.25f, 0), new PostOp.Combine(Binary.Function.ADD))), dtype,
                    dims(2, 3, 16, 32), dims(2, 3, 16, 32), dims(16, 16)));
            cases.add(new Case("with a residual",
                    new MatMul(false, false, true,
                            List.of(new PostOp.Apply(Unary.Function.GELU_ERF, 0, 0), new PostOp.Combine(Binary.Function.ADD))),
                    dtype, dims(2, 7, 5), dims(5, 4), dims(4), dims(2, 7, 4)));
        }
        // Copied into panels by the library.
        for (long rows : new long[]{1, 7, 40}) {
            cases.add(new Case("wide " + rows, MatMul.PLAIN, DType.FLOAT32, dims(rows, 13), dims(13, 600)));
            cases.add(new Case("wide and deep " + rows,
                    new MatMul(false, false, true,
                            List.of(new PostOp.Combine(Binary.Function.MULTIPLY), new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                    DType.FLOAT32, dims(rows, 300), dims(300, 513), dims(513), dims(rows, 513)));
        }
        return cases.stream();
    }

    static Stream<Case> convolutions() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            Window plain = Window.of(2, 1, 1);
            Window odd = Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{0, 2}, new int[]{1, 2});
            cases.add(new Case("3x3", new Convolution(plain, 1, false, List.of()), dtype, dims(2, 3, 9, 7), dims(4, 3, 3, 3)));
            cases.add(
                    new Case("odd window", new Convolution(odd, 1, true, List.of()), dtype, dims(1, 5, 13, 11), dims(7, 5, 3, 2), dims(7)));
            cases.add(new Case("groups", new Convolution(plain, 2, false, List.of()), dtype, dims(2, 6, 8, 8), dims(4, 3, 3, 3)));
            cases.add(
                    new Case("depthwise", new Convolution(plain, 6, true, List.of()), dtype, dims(2, 6, 8, 8), dims(6, 1, 3, 3), dims(6)));
            cases.add(new Case("with relu", new Convolution(plain, 1, true, List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0))), dtype,
                    dims(1, 16, 8, 8), dims(16, 16, 3, 3), dims(16)));
            cases.add(new Case("input gradient", new ConvolutionGradInput(plain, 1, List.of(9L, 7L)), dtype, dims(2, 4, 9, 7),
                    dims(4, 3, 3, 3)));
            cases.add(new Case("input gradient, groups", new ConvolutionGradInput(plain, 2, List.of(8L, 8L)), dtype, dims(2, 4, 8, 8),
                    dims(4, 3, 3, 3)));
            cases.add(new Case("weight gradient", new ConvolutionGradWeights(plain, 1, true, List.of(3L, 3L)), dtype, dims(2, 3, 9, 7),
                    dims(2, 4, 9, 7)));
            cases.add(new Case("weight gradient, groups", new ConvolutionGradWeights(plain, 2, false, List.of(3L, 3L)), dtype,
                    dims(2, 6, 8, 8), dims(2, 4, 8, 8)));
        }
        // Weights enough for products of matrices.
        Window odd = Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{0, 2}, new int[]{1, 2});
        for (long images : new long[]{1, 3}) {
            String many = ", many weights, " + images;
            cases.add(new Case("3x3" + many, new Convolution(Window.of(2, 1, 1), 1, true, List.of()), DType.FLOAT32,
                    dims(images, 48, 3, 2), dims(64, 48, 3, 3), dims(64)));
            cases.add(new Case("with post-ops" + many,
                    new Convolution(Window.of(2, 1, 1), 1, false,
                            List.of(new PostOp.Combine(Binary.Function.ADD), new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                    DType.FLOAT32, dims(images, 48, 3, 2), dims(64, 48, 3, 3), dims(64, 1, 1)));
            cases.add(new Case("odd window" + many, new Convolution(odd, 1, false, List.of()), DType.FLOAT32, dims(images, 48, 5, 4),
                    dims(64, 48, 3, 2)));
            cases.add(new Case("three dimensions" + many, new Convolution(Window.of(3, 2, 1), 1, false, List.of()), DType.FLOAT32,
                    dims(images, 32, 2, 3, 4), dims(32, 32, 3, 3, 3)));
            cases.add(new Case("input gradient" + many, new ConvolutionGradInput(Window.of(2, 1, 1), 1, List.of(3L, 2L)), DType.FLOAT32,
                    dims(images, 64, 3, 2), dims(64, 48, 3, 3)));
            cases.add(new Case("input gradient, odd window" + many, new ConvolutionGradInput(odd, 1, List.of(5L, 4L)), DType.FLOAT32,
                    dims(images, 64, 2, 4), dims(64, 48, 3, 2)));
            cases.add(new Case("weight gradient" + many, new ConvolutionGradWeights(Window.of(2, 1, 1), 1, true, List.of(3L, 3L)),
                    DType.FLOAT32, dims(images, 48, 3, 2), dims(images, 64, 3, 2)));
            cases.add(new Case("weight gradient, odd window" + many, new ConvolutionGradWeights(odd, 1, false, List.of(3L, 2L)),
                    DType.FLOAT32, dims(images, 48, 5, 4), dims(images, 64, 2, 4)));
            cases.add(
                    new Case("weight gradient, one place" + many, new ConvolutionGradWeights(Window.of(2, 1, 0), 1, true, List.of(3L, 3L)),
                            DType.FLOAT32, dims(images, 48, 3, 3), dims(images, 64, 1, 1)));
        }
        // Few channels: products with columns of one image, of all, and of some at a time.
        Window skewed = Window.of(new int[]{1, 1}, new int[]{3, 0}, new int[]{0, 2}, new int[]{1, 2});
        for (long images : new long[]{1, 7, 12}) {
            String few = ", few channels, " + images;
            cases.add(
                    new Case("5x5" + few, new Convolution(Window.of(2, 1, 0), 1, true, List.of()), DType.FLOAT32, dims(images, 20, 12, 12),
                            dims(24, 20, 5, 5), dims(24)));
            cases.add(new Case("with post-ops" + few,
                    new Convolution(Window.of(2, 1, 1), 1, false,
                            List.of(new PostOp.Combine(Binary.Function.ADD), new PostOp.Apply(Unary.Function.RELU, 0, 0),
                                    new PostOp.Combine(Binary.Function.MULTIPLY))),
                    DType.FLOAT32, dims(images, 3, 9, 10), dims(5, 3, 3, 3), dims(5, 1, 1), dims(1)));
            cases.add(new Case("skewed window" + few, new Convolution(skewed, 1, false, List.of()), DType.FLOAT32, dims(images, 3, 9, 10),
                    dims(20, 3, 3, 2)));
            cases.add(new Case("one dimension" + few, new Convolution(Window.of(1, 1, 1), 1, false, List.of()), DType.FLOAT32,
                    dims(images, 3, 9), dims(4, 3, 3)));
            cases.add(new Case("three dimensions" + few, new Convolution(Window.of(3, 1, 1), 1, false, List.of()), DType.FLOAT32,
                    dims(images, 2, 5, 6, 9), dims(20, 2, 3, 3, 3)));
            cases.add(new Case("input gradient" + few, new ConvolutionGradInput(Window.of(2, 1, 0), 1, List.of(12L, 12L)), DType.FLOAT32,
                    dims(images, 24, 8, 8), dims(24, 20, 5, 5)));
            cases.add(new Case("input gradient, skewed window" + few, new ConvolutionGradInput(skewed, 1, List.of(9L, 10L)), DType.FLOAT32,
                    dims(images, 20, 10, 10), dims(20, 3, 3, 2)));
        }
        cases.addAll(halfConvolutions());
        for (long images : new long[]{1, 2, 5}) {
            cases.add(new Case("weight gradient, pointwise, " + images,
                    new ConvolutionGradWeights(Window.of(2, 1, 0), 1, false, List.of(1L, 1L)), DType.FLOAT32, dims(images, 20, 9, 8),
                    dims(images, 30, 9, 8)));
        }
        cases.add(new Case("kernel beyond the image", new Convolution(Window.of(2, 1, 6), 1, false, List.of()), DType.FLOAT32,
                dims(2, 3, 2, 4), dims(20, 3, 7, 7)));
        cases.add(new Case("input gradient, kernel beyond the image", new ConvolutionGradInput(Window.of(2, 1, 6), 1, List.of(2L, 4L)),
                DType.FLOAT32, dims(2, 20, 8, 10), dims(20, 3, 7, 7)));
        cases.add(new Case("one dimension", new Convolution(Window.of(1, 1, 1), 1, false, List.of()), DType.FLOAT32, dims(2, 3, 9),
                dims(4, 3, 3)));
        cases.add(new Case("three dimensions", new Convolution(Window.of(3, 1, 1), 1, false, List.of()), DType.FLOAT32, dims(1, 2, 5, 6, 7),
                dims(3, 2, 3, 3, 3)));
        return cases.stream();
    }

    /** Of bfloat16, for which processors have units of their own: images and weights large enough for the kernels that use them, products of matrices among them, of even and odd numbers of images. */
    private static List<Case> halfConvolutions() {
        List<Case> cases = new ArrayList<>();
        DType half = DType.BFLOAT16;
        Window one = Window.of(2, 1, 1);
        Window two = Window.of(2, 2, 1);
        Window odd = Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{0, 2}, new int[]{1, 2});
        for (long images : new long[]{1, 2, 3}) {
            String of = " of halves, " + images;
            cases.add(new Case("3x3" + of, new Convolution(one, 1, true, List.of()), half, dims(images, 33, 9, 10), dims(37, 33, 3, 3),
                    dims(37)));
            cases.add(new Case("stride" + of,
                    new Convolution(two, 1, false,
                            List.of(new PostOp.Combine(Binary.Function.ADD), new PostOp.Apply(Unary.Function.RELU, 0, 0))),
                    half, dims(images, 3, 19, 20), dims(40, 3, 3, 3), dims(images, 40, 10, 10)));
            cases.add(new Case("groups" + of, new Convolution(two, 2, false, List.of()), half, dims(images, 32, 9, 10),
                    dims(48, 16, 3, 3)));
            cases.add(new Case("input gradient" + of, new ConvolutionGradInput(one, 1, List.of(9L, 10L)), half, dims(images, 37, 9, 10),
                    dims(37, 33, 3, 3)));
            cases.add(new Case("input gradient, stride, groups" + of, new ConvolutionGradInput(two, 2, List.of(9L, 10L)), half,
                    dims(images, 48, 5, 5), dims(48, 16, 3, 3)));
            cases.add(new Case("input gradient, pointwise" + of, new ConvolutionGradInput(Window.of(2, 1, 0), 1, List.of(9L, 10L)), half,
                    dims(images, 37, 9, 10), dims(37, 33, 1, 1)));
            cases.add(new Case("weight gradient" + of, new ConvolutionGradWeights(one, 1, true, List.of(3L, 3L)), half,
                    dims(images, 5, 9, 10), dims(images, 37, 9, 10)));
            cases.add(new Case("weight gradient, stride, groups" + of, new ConvolutionGradWeights(two, 2, false, List.of(3L, 3L)), half,
                    dims(images, 32, 9, 10), dims(images, 48, 5, 5)));
            cases.add(new Case("weight gradient, pointwise" + of, new ConvolutionGradWeights(Window.of(2, 1, 0), 1, false, List.of(1L, 1L)),
                    half, dims(images, 33, 9, 10), dims(images, 37, 9, 10)));
            // Weights enough for products of matrices.
            cases.add(new Case("many weights" + of, new Convolution(odd, 1, true, List.of()), half, dims(images, 48, 5, 4),
                    dims(64, 48, 3, 2), dims(64)));
            cases.add(new Case("input gradient, many weights" + of, new ConvolutionGradInput(odd, 1, List.of(5L, 4L)), half,
                    dims(images, 64, 2, 4), dims(64, 48, 3, 2)));
            cases.add(new Case("weight gradient, many weights" + of, new ConvolutionGradWeights(odd, 1, false, List.of(3L, 2L)), half,
                    dims(images, 48, 5, 4), dims(images, 64, 2, 4)));
            cases.add(new Case("weight and bias gradient, many weights" + of, new ConvolutionGradWeights(one, 1, true, List.of(3L, 3L)),
                    half, dims(images, 48, 5, 4), dims(images, 64, 5, 4)));
        }
        return cases;
    }

    static Stream<Case> normalisations() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (boolean log : new boolean[]{false, true}) {
                for (int axis : new int[]{0, 1, -1}) {
                    cases.add(new Case("softmax " + axis + log, new Softmax(axis, log), dtype, dims(3, 13, 7)));
                    cases.add(
                            new Case("softmax gradient " + axis + log, new SoftmaxGrad(axis, log), dtype, dims(3, 13, 7), dims(3, 13, 7)));
                }
            }
            Pooling.Kind[] kinds = Pooling.Kind.values();
            for (Pooling.Kind kind : kinds) {
                Pooling pooling = new Pooling(kind, List.of(3L, 2L),
                        Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{1, 1}, new int[]{1, 1}));
                cases.add(new Case("pooling " + kind, pooling, dtype, dims(2, 3, 9, 8)));
                cases.add(new Case("pooling gradient " + kind, new PoolingGrad(pooling), dtype, dims(2, 3, 9, 8), dims(2, 3, 5, 8),
                        dims(2, 3, 5, 8)));
                cases.add(new Case("global pooling " + kind, new Pooling(kind, List.of(7L, 7L), Window.of(2, 1, 0)), dtype,
                        dims(2, 16, 7, 7)));
                cases.add(new Case("adaptive pooling " + kind, new AdaptivePooling(kind, List.of(3L, 4L)), dtype, dims(2, 3, 7, 7)));
            }
        }
        cases.add(new Case("layer norm", new LayerNorm(1, 1e-5f, true, true), DType.FLOAT32, dims(5, 13, 7), dims(13, 7), dims(91)));
        cases.add(new Case("layer norm alone", new LayerNorm(-1, 1e-5f, false, false), DType.FLOAT32, dims(5, 13)));
        cases.add(new Case("layer norm gradient", new LayerNormGrad(new LayerNorm(1, 1e-5f, true, true)), DType.FLOAT32, dims(5, 91),
                dims(5, 91), dims(91), dims(5), dims(-5, 5)));
        cases.add(new Case("batch norm", new BatchNorm(1e-5f, true), DType.FLOAT32, dims(4, 3, 5, 6), dims(3), dims(3)));
        // A tile has 1024 elements: images of less, of more, of parts of one and of several.
        for (long[] image : new long[][]{dims(11, 5, 3, 2), dims(3, 300, 2, 2), dims(17, 3, 9, 9), dims(2, 3, 40, 40), dims(9, 2),
                dims(2, 1500, 1)}) {
            String of = " of " + Shape.of(image);
            long[] channel = dims(image[1]);
            cases.add(new Case("batch norm" + of, new BatchNorm(1e-5f, true), DType.FLOAT32, image, channel, channel));
            cases.add(new Case("batch norm gradient" + of, new BatchNormGrad(new BatchNorm(1e-5f, true)), DType.FLOAT32, image, image,
                    channel, channel, dims(-5, image[1])));
        }
        // Windows side by side.
        Pooling pairs = new Pooling(Pooling.Kind.MAX, List.of(2L, 2L), Window.of(2, 2, 0));
        for (long[] half : new long[][]{dims(1, 1, 1, 1), dims(2, 3, 5, 4), dims(3, 2, 7, 13), dims(1, 2, 3, 341), dims(1, 1, 2, 342),
                dims(5, 7, 12, 12)}) {
            long[] image = dims(half[0], half[1], 2 * half[2], 2 * half[3]);
            for (DType dtype : FLOATS) {
                cases.add(new Case("pooling to " + Shape.of(half), pairs, dtype, image));
                cases.add(new Case("pooling gradient from " + Shape.of(half), new PoolingGrad(pairs), dtype, image, half, half));
            }
        }
        cases.add(new Case("batch norm at inference", new BatchNorm(1e-5f, false), DType.FLOAT32, dims(4, 16, 5, 6), dims(16), dims(16),
                dims(16), dims(-5, 16)));
        cases.add(new Case("batch norm gradient", new BatchNormGrad(new BatchNorm(1e-5f, true)), DType.FLOAT32, dims(4, 3, 5, 6),
                dims(4, 3, 5, 6), dims(3), dims(3), dims(-5, 3)));
        cases.add(new Case("group norm", new GroupNorm(2, 1e-5f, true, true), DType.FLOAT32, dims(2, 6, 4, 5), dims(6), dims(6)));
        return cases.stream();
    }

    static Stream<Case> binaries() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (Binary.Function function : Binary.Function.values()) {
                cases.add(new Case(function + " alike", Binary.of(function), dtype, dims(207), dims(207)));
                cases.add(new Case(function + " row", Binary.of(function), dtype, dims(13, 21), dims(21)));
                cases.add(new Case(function + " column", Binary.of(function), dtype, dims(13, 1), dims(13, 21)));
                cases.add(new Case(function + " outer", Binary.of(function), dtype, dims(5, 1, 3), dims(4, 1)));
                // Large enough for the library.
                cases.add(new Case(function + " alike, large", Binary.of(function), dtype, dims(5003), dims(5003)));
                cases.add(new Case(function + " row, large", Binary.of(function), dtype, dims(13, 421), dims(421)));
                cases.add(new Case(function + " column, large", Binary.of(function), dtype, dims(13, 1), dims(13, 421)));
                cases.add(new Case(function + " outer, large", Binary.of(function), dtype, dims(20, 1, 3), dims(19, 1)));
                cases.add(new Case(function + " single", Binary.of(function), dtype, dims(), dims(3)));
                cases.add(new Case(function + " empty", Binary.of(function), dtype, dims(0, 3), dims(3)));
            }
        }
        return cases.stream();
    }

    static Stream<Case> reductions() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (Reduction.Function function : Reduction.Function.values()) {
                for (List<Integer> axes : List.of(List.<Integer>of(), List.of(0), List.of(1), List.of(-1), List.of(0, 2))) {
                    cases.add(new Case(function + " " + axes, new Reduction(function, axes, false), dtype, dims(3, 13, 7)));
                    cases.add(new Case(function + " large " + axes, new Reduction(function, axes, false), dtype, dims(30, 13, 7)));
                }
                for (long[] shape : new long[][]{dims(9, 3, 11), dims(64, 500), dims(21, 1100), dims(16, 2, 1300)}) {
                    List<Integer> axes = shape.length == 2 ? List.of(0) : List.of(0, 2);
                    cases.add(new Case(function + " of columns of " + Shape.of(shape), new Reduction(function, axes, true), dtype, shape));
                }
                for (long[] shape : new long[][]{dims(3, 65, 40), dims(1, 64, 33), dims(2, 5, 300), dims(2, 130, 1, 17)}) {
                    cases.add(
                            new Case(function + " of rows of " + Shape.of(shape), new Reduction(function, List.of(1), true), dtype, shape));
                }
                cases.add(new Case(function + " long", new Reduction(function, List.of(), true), dtype, dims(4098)));
                cases.add(new Case(function + " of ones", new Reduction(function, List.of(1, -1), false), dtype, dims(7, 1, 13, 1, 21)));
            }
        }
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource({"products", "convolutions", "normalisations", "binaries", "reductions"})
    void givesTheSame(Case one) {
        compare(one, ordinary(one));
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void givesTheSameForSpecialValues(Case one) {
        compare(one, special(one));
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
        java.util.Arrays.fill(values, 0.1f);
        Tensor x = Tensor.of(values, rows, 3);
        double[] sums = KernelRun.run(Kernels.system(), new Reduction(Reduction.Function.SUM, List.of(0), false), x)[0].toDoubleArray();
        double exact = (double) 0.1f * rows;
        assertArrayEquals(new double[]{exact, exact, exact}, sums, 1e-6 * exact);
    }

    /** In bfloat16, too, sums are taken in float32, and what is not a number comes out where it belongs: of an odd number of images the memory beyond them must not. */
    @Test
    void convolutionsOfHalvesKeepSpecialValues() {
        for (Case one : halfConvolutions()) {
            if (one.computation() instanceof ConvolutionGradInput || one.computation() instanceof ConvolutionGradWeights) {
                Tensor[] inputs = ordinary(one);
                double[] values = inputs[0].toDoubleArray();
                values[values.length / 2] = Double.NaN;
                inputs[0] = Tensor.of(one.dtype(), values, one.shapes()[0]);
                compare(one, inputs);
                compare(one, ordinary(one));
            }
        }
    }

    /** Images of bfloat16 with scales and statistics of float32: an even number of elements side by side, and an odd one. */
    @Test
    void normalisesImagesOfHalves() {
        BatchNorm norm = new BatchNorm(1e-5f, true);
        for (long[] image : new long[][]{dims(11, 5, 3, 2), dims(3, 300, 2, 2), dims(17, 3, 9, 9), dims(2, 3, 40, 40), dims(9, 2),
                dims(2, 1500, 2), dims(1, 1, 2), dims(3, 2, 30, 36)}) {
            long[] channel = dims(image[1]);
            Case forward = new Case("batch norm of " + Shape.of(image), norm, DType.BFLOAT16, image, channel, channel);
            compare(forward, withFloatChannels(ordinary(forward)));
            Case grad = new Case("batch norm gradient of " + Shape.of(image), new BatchNormGrad(norm), DType.BFLOAT16, image, image,
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
        Case one = new Case("batch norm", new BatchNorm(1e-5f, true), DType.BFLOAT16, dims(5, 6, 3, 4), dims(6), dims(6));
        for (double special : new double[]{Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            Tensor[] inputs = withFloatChannels(ordinary(one));
            double[] values = inputs[0].toDoubleArray();
            values[17] = special;
            inputs[0] = Tensor.of(DType.BFLOAT16, values, 5, 6, 3, 4);
            compare(one, inputs);
        }
    }

    /** Each pair of gradients and values, of an odd number of elements and of several tiles, to the bit but for the bits of NaN. */
    @Test
    void gradientOfReluOfHalvesIsExact() {
        Case one = new Case("gradient of relu", UnaryGrad.of(Unary.of(Unary.Function.RELU)), DType.BFLOAT16, dims(4999));
        double[] values = special(one)[0].toDoubleArray();
        double[] gradients = new double[values.length];
        for (int i = 0; i < gradients.length; i++) {
            gradients[i] = SPECIAL[(i / SPECIAL.length + i) % SPECIAL.length];
        }
        Tensor y = Tensor.of(DType.BFLOAT16, values, 4999);
        Tensor dy = Tensor.of(DType.BFLOAT16, gradients, 4999);
        double[] expected = KernelRun.run(Kernels.portable(), one.computation(), y, y, dy)[0].toDoubleArray();
        assertArrayEquals(expected, KernelRun.run(Kernels.system(), one.computation(), y, y, dy)[0].toDoubleArray());
    }

    /** A NaN must not vanish from the images that the library pools. */
    @ParameterizedTest
    @EnumSource(Pooling.Kind.class)
    void poolingKeepsSpecialValues(Pooling.Kind kind) {
        for (DType dtype : List.of(DType.FLOAT32, DType.BFLOAT16)) {
            Case one = new Case("pooling " + kind, new Pooling(kind, List.of(2L, 2L), Window.of(2, 2, 0)), dtype, dims(2, 16, 8, 8));
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
        double[] few = {0, -0.0, 1, -1, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Float.MIN_VALUE, -Float.MIN_VALUE};
        double[] values = random.ints(3 * 7 * 8 * 6, 0, few.length).mapToDouble(i -> few[i]).toArray();
        Tensor x = Tensor.of(dtype, values, 3, 7, 8, 6);
        Tensor dy = random(dtype, 1, dims(3, 7, 4, 3));
        compare(one, x, dy, dy);
        Tensor minusNaN = Tensor.of(dtype, new double[]{Double.POSITIVE_INFINITY, 1, 2, Float.intBitsToFloat(0xffc00000)}, 1, 1, 2, 2);
        Tensor single = Tensor.of(dtype, new double[]{5}, 1, 1, 1, 1);
        compare(one, minusNaN, single, single);
        compare(new Case("pooling", pairs, dtype), minusNaN);
    }

    @ParameterizedTest
    @EnumSource(Unary.Function.class)
    void functionsGiveTheSame(Unary.Function function) {
        for (DType dtype : FLOATS) {
            for (long n : new long[]{0, 1, 13, 207, 4098}) {
                Case one = new Case(function + " " + n, new Unary(function, 0.25f, 0.75f), dtype, dims(n));
                compare(one, ordinary(one));
                compare(one, special(one));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Unary.Function.class, names = {"RELU", "LEAKY_RELU", "ELU", "CLIP", "SIGMOID", "TANH", "GELU_ERF", "GELU_TANH",
            "SWISH", "HARD_SIGMOID", "HARD_SWISH", "MISH", "EXP",
            "LOG", "SQRT", "SQUARE", "ABS", "LINEAR"})
    void gradientsOfFunctionsGiveTheSame(Unary.Function function) {
        for (DType dtype : FLOATS) {
            Unary unary = new Unary(function, 0.25f, 0.75f);
            for (long n : new long[]{207, 2070}) {
                Tensor x = random(dtype, 1, dims(n));
                Tensor y = KernelRun.run(Kernels.portable(), unary, x)[0];
                Case one = new Case("gradient of " + function, UnaryGrad.of(unary), dtype);
                compare(one, x, y, random(dtype, 2, dims(n)));
            }
        }
    }

    /** From the result alone, as far as that tells enough. */
    @ParameterizedTest
    @EnumSource(value = Unary.Function.class, names = {"RELU", "LEAKY_RELU", "ELU", "SIGMOID", "TANH", "EXP", "SQRT", "RSQRT",
            "RECIPROCAL"})
    void gradientsFromResultsGiveTheSame(Unary.Function function) {
        for (DType dtype : FLOATS) {
            UnaryGrad grad = new UnaryGrad(function, 0.25f, 0);
            for (long n : new long[]{1, 13, 207, 2071}) {
                Tensor x = positive(dtype, dims(n));
                Tensor y = KernelRun.run(Kernels.portable(), new Unary(function, 0.25f, 0), x)[0];
                Tensor dy = random(dtype, 2, dims(n));
                Case one = new Case("gradient of " + function, grad, dtype);
                compare(one, null, y, dy);
                if (function == Unary.Function.RELU || function == Unary.Function.ELU || function == Unary.Function.TANH) {
                    compare(one, null, KernelRun.run(Kernels.portable(), new Unary(function, 0.25f, 0), random(dtype, 5, dims(n)))[0], dy);
                }
            }
        }
    }

    /** An infinite gradient does not vanish, or training in 16 bits would not see that the loss's scale is too large. */
    @Test
    void infiniteGradientsAreSeen() {
        double infinite = Double.POSITIVE_INFINITY;
        for (DType dtype : FLOATS) {
            for (int n : new int[]{1, 40, 3000}) {
                double[] values = new double[n];
                java.util.Arrays.fill(values, infinite);
                Tensor dy = Tensor.of(dtype, values, n);
                Tensor zeros = Tensor.of(dtype, new double[n], n);
                for (Unary.Function function : List.of(Unary.Function.RELU, Unary.Function.SIGMOID, Unary.Function.TANH)) {
                    double[] dx = KernelRun.run(Kernels.system(), new UnaryGrad(function, 0, 0), null, zeros, dy)[0].toDoubleArray();
                    assertEquals(0, java.util.Arrays.stream(dx).filter(Double::isFinite).count(), function + " " + dtype + " " + n);
                }
            }
        }
    }

    private static Tensor[] ordinary(Case one) {
        Tensor[] inputs = new Tensor[one.shapes().length];
        for (int i = 0; i < inputs.length; i++) {
            long[] dims = one.shapes()[i];
            // A leading -5 asks for positive values, as variances are.
            boolean positive = dims.length > 0 && dims[0] == -5;
            inputs[i] = positive ? positive(one.dtype(), java.util.Arrays.copyOfRange(dims, 1, dims.length)) : random(one.dtype(), i, dims);
        }
        return inputs;
    }

    private static Tensor positive(DType dtype, long[] dims) {
        double[] values = random(dtype, 9, dims).toDoubleArray();
        return Tensor.of(dtype, java.util.Arrays.stream(values).map(v -> 0.5 + v * v).toArray(), dims);
    }

    private static Tensor random(DType dtype, int salt, long[] dims) {
        SplittableRandom random = new SplittableRandom(SEED + salt);
        double[] values = new double[(int) Shape.of(dims).size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextDouble(-2, 2);
        }
        return Tensor.of(dtype, values, dims);
    }

    private static Tensor[] special(Case one) {
        Tensor[] inputs = new Tensor[one.shapes().length];
        for (int i = 0; i < inputs.length; i++) {
            double[] values = new double[(int) Shape.of(one.shapes()[i]).size()];
            for (int j = 0; j < values.length; j++) {
                // Different steps pair each value with each other one.
                values[j] = SPECIAL[(i == 0 ? j : (j / SPECIAL.length) + j) % SPECIAL.length];
            }
            inputs[i] = Tensor.of(one.dtype(), values, one.shapes()[i]);
        }
        return inputs;
    }

    private static void compare(Case one, @Nullable Tensor... inputs) {
        Tensor[] fast;
        Tensor[] portable;
        try {
            portable = KernelRun.run(Kernels.portable(), one.computation(), inputs);
        } catch (IllegalArgumentException e) {
            // What one refuses the other must refuse too.
            IllegalArgumentException other = org.junit.jupiter.api.Assertions.assertThrows(IllegalArgumentException.class,
                    () -> KernelRun.run(Kernels.system(), one.computation(), inputs));
            assertEquals(e.getClass(), other.getClass());
            return;
        }
        fast = KernelRun.run(Kernels.system(), one.computation(), inputs);
        assertEquals(portable.length, fast.length);
        for (int i = 0; i < fast.length; i++) {
            compare(one + ", output " + i + ", seed " + SEED, one.dtype(), inputs, portable[i].toDoubleArray(), fast[i].toDoubleArray());
        }
    }

    private static void compare(String what, DType dtype, @Nullable Tensor[] inputs, double[] expected, double[] actual) {
        double tolerance = switch (dtype) {
            case FLOAT32 -> 2e-5;
            case FLOAT16 -> 4e-3;
            default -> 3e-2;
        };
        double magnitude = 1;
        for (double value : expected) {
            magnitude = Double.isFinite(value) ? Math.max(magnitude, Math.min(Math.abs(value), 100)) : magnitude;
        }
        for (int i = 0; i < expected.length; i++) {
            double e = expected[i];
            double a = actual[i];
            boolean same = Double.isNaN(e)
                    ? Double.isNaN(a)
                    : (Double.isInfinite(e) || Double.isInfinite(a))
                            ? e == a
                            : Math.abs(e - a) <= tolerance * Math.max(magnitude, Math.abs(e));
            Tensor first = inputs[0];
            String of = first != null && first.shape().size() == expected.length ? " of " + first.toDoubleArray()[i] : "";
            if (!same) {
                fail(what + ": element " + i + of + " is " + a + ", the portable kernel's " + e);
            }
        }
    }
}

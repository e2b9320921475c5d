package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionAddWeights;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.internal.ffi.WindowGeometry;
import io.seriatim.tensor.kernel.Kernel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Gradients of convolutions, and code that they share with convolutions. The library chooses the layout of the weights;
 * it chooses those of the images only if it has no fast implementation for the given ones. Operands with another layout
 * are reordered before or after.
 */
final class ConvolutionRecipes {
    private static final String COLUMNS = "gemm:";

    /** Whether images keep the layout that they are given. */
    enum Images {
        AS_GIVEN, ANY;

        static final List<Images> GIVEN_FIRST = List.of(AS_GIVEN, ANY);
        static final List<Images> GIVEN_LAST = List.of(ANY, AS_GIVEN);

        /**
         * Those that the gradient of an image may have. If there are gaps between images, as between their rows in the
         * parts of a task, the library writes to other places (oneDNN 3.11).
         */
        static List<Images> fitting(TensorSpec... images) {
            return Arrays.stream(images).anyMatch(Images::areApart) ? List.of(ANY) : List.of(values());
        }

        private static boolean areApart(TensorSpec images) {
            long count = images.shape().dim(0);
            return count > 1 && images.strides()[0] != images.shape().size() / count;
        }
    }

    private ConvolutionRecipes() {
    }

    /** A window with the number of groups. */
    record Geometry(Window window, int groups) {
        WindowGeometry forLibrary() {
            return new WindowGeometry(values(window::stride), values(i -> window.dilation(i) - 1L),
                    values(window::padBegin), values(window::padEnd));
        }

        private long[] values(IntToLongFunction value) {
            return IntStream.range(0, window.rank()).mapToLong(value).toArray();
        }

        /** Whether the library has convolutions with so many spatial dimensions. */
        boolean hasLibraryRank() {
            return window.rank() >= 1 && window.rank() <= 3;
        }

        /** Whether each pixel of the result depends on exactly one pixel of the image, and all pixels are used. */
        boolean isPointwise(Shape weights) {
            boolean pointwise = true;
            for (int i = 0; i < window.rank(); i++) {
                pointwise &= weights.dim(2 + i) == 1 && window.stride(i) == 1 && window.padBegin(i) == 0
                        && window.padEnd(i) == 0;
            }
            return pointwise;
        }

        /**
         * Whether each window covers an element of the image: the library's convolutions and their gradients read
         * beyond memory otherwise (oneDNN 3.11).
         */
        boolean meetsImage(Shape image, Shape weights, Shape result) {
            return meets(image, result, weights, window::stride, window::dilation);
        }

        /**
         * Whether each element of the kernel meets an element of the image: in 16 bits the library does not write the
         * gradients of others (oneDNN 3.11).
         */
        boolean usesKernel(Shape image, Shape weights, Shape result) {
            return meets(image, weights, result, window::dilation, window::stride);
        }

        private boolean meets(Shape image, Shape each, Shape any, IntUnaryOperator step, IntUnaryOperator other) {
            for (int i = 0; i < window.rank(); i++) {
                for (long j = 0; j < each.dim(2 + i); j++) {
                    long from = j * step.applyAsInt(i) - window.padBegin(i);
                    long pace = other.applyAsInt(i);
                    // The first that is not before the image.
                    long first = from + Math.ceilDiv(Math.max(0, -from), pace) * pace;
                    if (first >= image.dim(2 + i) || first > from + (any.dim(2 + i) - 1) * pace) {
                        return false;
                    }
                }
            }
            return true;
        }

        /** The dimensions of the weights as the library expects them, with the groups as the first one. */
        long[] weightDims(Shape shape) {
            long[] dims = shape.dims();
            if (groups == 1) {
                return dims;
            }
            long[] grouped = new long[dims.length + 1];
            grouped[0] = groups;
            grouped[1] = dims[0] / groups;
            System.arraycopy(dims, 1, grouped, 2, dims.length - 1);
            return grouped;
        }
    }

    /** The memory descriptors of one attempt; the bias is null if there is none. */
    record Descriptors(MemoryDescriptor image, MemoryDescriptor weights, @Nullable MemoryDescriptor bias,
            MemoryDescriptor result) {
    }

    static @Nullable Kernel gradInput(Dnnl dnnl, ConvolutionGradInput grad, @Nullable TensorSpec[] arguments) {
        if (grad.postOps().isEmpty()) {
            return plainGradInput(dnnl, grad, arguments);
        }
        ConvolutionGradInput plain = new ConvolutionGradInput(grad.window(), grad.groups(), grad.spatial());
        Kernel product = productGradInput(dnnl, plain, arguments);
        if (product != null) {
            return UnfusedPostOps.of(grad.postOps(), plain, arguments, (_, _) -> product);
        }
        TransposedConvolution transposed = TransposedConvolution.of(grad, arguments);
        Kernel fused = transposed == null ? null : transposed.kernel(dnnl);
        return fused != null
                ? fused
                : UnfusedPostOps.of(grad.postOps(), plain, arguments,
                        (computation, operands) -> plainGradInput(dnnl, computation, operands));
    }

    /** One that is a product of whole matrices; null where the library's own are faster. */
    private static @Nullable Kernel productGradInput(Dnnl dnnl, ConvolutionGradInput grad,
            @Nullable TensorSpec[] arguments) {
        TensorSpec dy = Objects.requireNonNull(arguments[0]);
        TensorSpec w = Objects.requireNonNull(arguments[1]);
        TensorSpec dx = Objects.requireNonNull(arguments[arguments.length - 1]);
        if (!isReadable(dy, w, dx) || w.layout() instanceof Layout.Opaque) {
            return null;
        }
        Geometry geometry = new Geometry(grad.window(), grad.groups());
        TransposedConvolution transposed = TransposedConvolution.of(grad, new TensorSpec[]{dy, w, dx});
        DnnlKernel.Preference preference = (builder, argument,
                given) -> transposed == null ? given : transposed.preferred(builder, argument, given);
        ConvolutionBlocks blocks = ConvolutionBlocks.of(geometry, dx, w, dy);
        Kernel rows = blocks == null ? TransposedProducts.of(dnnl, grad, dy, w, dx) : null;
        if (rows != null) {
            return rows;
        }
        ConvolutionProducts products = ConvolutionProducts.ofGradInput(geometry, dx, w, dy);
        return products != null
                ? products.gradInput(dnnl, preference)
                : blocks != null ? blocks.gradInput(dnnl) : pointwiseGradInput(dnnl, geometry, dy, w, dx);
    }

    private static @Nullable Kernel plainGradInput(Dnnl dnnl, ConvolutionGradInput grad,
            @Nullable TensorSpec[] arguments) {
        TensorSpec dy = Objects.requireNonNull(arguments[0]);
        TensorSpec w = Objects.requireNonNull(arguments[1]);
        TensorSpec dx = Objects.requireNonNull(arguments[2]);
        if (!isReadable(dy, w, dx)) {
            return null;
        }
        Geometry geometry = new Geometry(grad.window(), grad.groups());
        Kernel product = productGradInput(dnnl, grad, arguments);
        if (product != null) {
            return product;
        }
        TransposedConvolution transposed = TransposedConvolution.of(grad, arguments);
        Kernel kernel = transposed == null ? null : transposed.kernel(dnnl);
        if (kernel != null) {
            return kernel;
        }
        if (w.layout() instanceof Layout.Opaque) {
            return null;
        }
        return DnnlKernel.of(dnnl, builder -> {
            PrimitiveDescriptor descriptor = !geometry.hasLibraryRank()
                    || !geometry.meetsImage(dx.shape(), w.shape(), dy.shape())
                            ? null
                            : fastest(builder, Images.fitting(dx, dy), images -> tryGradInput(builder, geometry,
                                    new Descriptors(image(builder, dx, images), weights(builder, geometry, w), null,
                                            image(builder, dy, images))));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor,
                    builder.input(DnnlConstants.DIFF_DST, 0, builder.describe(dy),
                            dnnl.find(descriptor, DnnlConstants.QUERY_DIFF_DST)),
                    builder.input(DnnlConstants.WEIGHTS, 1, givenWeights(builder, geometry, w),
                            dnnl.find(descriptor, DnnlConstants.QUERY_WEIGHTS)),
                    builder.output(DnnlConstants.DIFF_SRC, 2, builder.describe(dx),
                            dnnl.find(descriptor, DnnlConstants.QUERY_DIFF_SRC)));
            return true;
        }, (builder, argument,
                given) -> transposed == null ? given : transposed.preferred(builder, argument, given));
    }

    /**
     * With a kernel of one element, products of the weights, [outputs, channels], transposed, and the gradient of each
     * image, [outputs, pixels].
     */
    private static @Nullable Kernel pointwiseGradInput(Dnnl dnnl, Geometry geometry, TensorSpec dy, TensorSpec w,
            TensorSpec dx) {
        boolean plain = dy.isRowMajor() && w.isRowMajor() && dx.isRowMajor();
        return plain && geometry.groups() == 1 && geometry.isPointwise(w.shape())
                ? MatMulRecipe.fused(dnnl, new MatMul(true, false, false, List.of()), true,
                        new TensorSpec[]{ConvolutionForward.flat(dy),
                                TensorSpec.of(w.dtype(), w.shape().dim(0), w.shape().dim(1)),
                                ConvolutionForward.flat(dx)})
                : null;
    }

    static @Nullable Kernel gradWeights(Dnnl dnnl, ConvolutionGradWeights grad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec dy = Objects.requireNonNull(arguments[1]);
        TensorSpec dw = Objects.requireNonNull(arguments[2]);
        return gradWeights(dnnl, grad, arguments, x, dy, dw, new WeightTarget(false));
    }

    /** Of float32, where the sum and the result are row-major. */
    static @Nullable Kernel addWeights(Dnnl dnnl, ConvolutionAddWeights add, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec dy = Objects.requireNonNull(arguments[1]);
        TensorSpec sum = Objects.requireNonNull(arguments[2]);
        TensorSpec out = Objects.requireNonNull(arguments[3]);
        boolean plain = sum.isRowMajor() && sum.equals(out) && sum.dtype() == DType.FLOAT32;
        return plain ? gradWeights(dnnl, add.gradient(), arguments, x, dy, sum, new WeightTarget(true)) : null;
    }

    private static @Nullable Kernel gradWeights(Dnnl dnnl, ConvolutionGradWeights grad,
            @Nullable TensorSpec[] arguments, TensorSpec x, TensorSpec dy, TensorSpec dw, WeightTarget to) {
        if (!isReadable(x, dw, dy) || (grad.bias() && !Objects.requireNonNull(arguments[3]).isRowMajor())) {
            return null;
        }
        Geometry geometry = new Geometry(grad.window(), grad.groups());
        ConvolutionProducts products = ConvolutionProducts.ofGradWeights(geometry, x, dw, dy);
        Kernel product = products != null
                ? products.gradWeights(dnnl, grad.bias(), to)
                : grad.bias() ? null : PointwiseGradWeights.of(dnnl, geometry, x, dy, dw, to);
        return product != null ? product : DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor bias = grad.bias() ? builder.describe(Objects.requireNonNull(arguments[3])) : null;
            boolean whole = x.dtype().bytes() > 2 || geometry.usesKernel(x.shape(), dw.shape(), dy.shape());
            if (!geometry.hasLibraryRank() || !whole || !geometry.meetsImage(x.shape(), dw.shape(), dy.shape())) {
                return false;
            }
            PrimitiveDescriptor descriptor = fastest(builder, List.of(Images.values()),
                    images -> tryGradWeights(builder, geometry,
                            new Descriptors(image(builder, x, images), weights(builder, geometry, dw), bias,
                                    image(builder, dy, images))));
            if (descriptor == null) {
                return false;
            }
            List<Operand> operands = new ArrayList<>();
            operands.add(builder.input(DnnlConstants.SRC, 0, builder.describe(x),
                    dnnl.find(descriptor, DnnlConstants.QUERY_SRC)));
            operands.add(
                    builder.input(DnnlConstants.DIFF_DST, 1, builder.describe(dy),
                            dnnl.find(descriptor, DnnlConstants.QUERY_DIFF_DST)));
            Operand weights = to.at(builder, DnnlConstants.DIFF_WEIGHTS, givenWeights(builder, geometry, dw));
            operands.add(builder.output(weights, dnnl.find(descriptor, DnnlConstants.QUERY_DIFF_WEIGHTS)));
            if (bias != null) {
                operands.add(new Operand(DnnlConstants.DIFF_BIAS, 3, bias));
            }
            builder.step(descriptor, operands.toArray(Operand[]::new));
            return to.finish(builder, weights);
        });
    }

    /** Describes a convolution with images of one layout; null if the library has no implementation. */
    @FunctionalInterface
    interface Attempt {
        @Nullable
        PrimitiveDescriptor tryDescribe(Images images);
    }

    /** With the images as they are if that is fast, else with the layout that the library chooses. */
    private static @Nullable PrimitiveDescriptor fastest(SequenceBuilder builder, List<Images> layouts,
            Attempt attempt) {
        for (Images images : layouts) {
            PrimitiveDescriptor descriptor = builder.keepFast(attempt.tryDescribe(images));
            if (descriptor != null && (images == Images.ANY || !isByColumns(builder.dnnl(), descriptor))) {
                return descriptor;
            }
        }
        return null;
    }

    /**
     * Whether the implementation is the library's im2col, which gathers columns element by element, and does not use
     * the matrix units in bfloat16. Its name begins with the instruction set.
     */
    static boolean isByColumns(Dnnl dnnl, PrimitiveDescriptor descriptor) {
        return dnnl.implementation(descriptor).contains(COLUMNS);
    }

    static @Nullable PrimitiveDescriptor tryForward(SequenceBuilder builder, Geometry geometry, Descriptors d,
            Attributes attributes, int kind) {
        return builder.primitives().tryConvolution(kind, d.image(), d.weights(), d.bias(), d.result(),
                geometry.forLibrary(), attributes);
    }

    private static @Nullable PrimitiveDescriptor tryHint(SequenceBuilder builder, Geometry geometry, Descriptors d) {
        return builder.keep(tryForward(builder, geometry, d, builder.attributes(), DnnlConstants.FORWARD_TRAINING));
    }

    private static @Nullable PrimitiveDescriptor tryGradInput(SequenceBuilder builder, Geometry geometry,
            Descriptors d) {
        PrimitiveDescriptor hint = tryHint(builder, geometry, d);
        return hint == null
                ? null
                : builder.primitives().tryConvolutionGradInput(d.image(), d.weights(), d.result(),
                        geometry.forLibrary(), hint, builder.attributes());
    }

    private static @Nullable PrimitiveDescriptor tryGradWeights(SequenceBuilder builder, Geometry geometry,
            Descriptors d) {
        PrimitiveDescriptor hint = tryHint(builder, geometry, d);
        return hint == null
                ? null
                : builder.primitives().tryConvolutionGradWeights(d.image(), d.weights(), d.bias(), d.result(),
                        geometry.forLibrary(), hint, builder.attributes());
    }

    static boolean isReadable(TensorSpec image, TensorSpec weights, TensorSpec result) {
        boolean sizes = image.shape().size() > 0 && weights.shape().size() > 0 && result.shape().size() > 0;
        return sizes && Specs.areForward(image, result)
                && (weights.layout() instanceof Layout.Opaque || Specs.areForward(weights));
    }

    static MemoryDescriptor image(SequenceBuilder builder, TensorSpec spec, Images images) {
        return images == Images.ANY ? builder.describeAny(spec.shape().dims(), spec.dtype()) : builder.describe(spec);
    }

    /** Weights in a layout that the library chooses, unless they have one of its layouts already. */
    static MemoryDescriptor weights(SequenceBuilder builder, Geometry geometry, TensorSpec spec) {
        DType dtype = spec.dtype();
        return spec.layout() instanceof Layout.Opaque
                ? builder.describe(spec)
                : builder.describeAny(geometry.weightDims(spec.shape()), dtype);
    }

    static MemoryDescriptor givenWeights(SequenceBuilder builder, Geometry geometry, TensorSpec spec) {
        return builder.describe(spec.layout() instanceof Layout.Opaque
                ? spec
                : Convolution.packedWeights(spec, geometry.groups()));
    }
}

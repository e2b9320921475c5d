package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Convolutions and their gradients as products of the weights, [outputs, channels · window], in their own layout, with
 * {@link Im2col}. The library's own convolutions reorder the weights first, and their gradients afterwards. That takes
 * longer than im2col for many weights and small images, as in the last layers of a residual network.
 */
final class ConvolutionProducts {
    private static final List<PostOp> ADD = List.of(new PostOp.Combine(Binary.Function.ADD));
    /** Smaller weights stay in the first-level cache while they are copied. */
    private static final long FEWEST_WEIGHTS = 1 << 14;

    /**
     * In bfloat16 the library's gradient of the weights is slow, and im2col takes half as long: it is faster for up to
     * so many times as many columns.
     */
    private static final double MORE_COLUMNS = 8;
    /**
     * In bfloat16 the library's gradient of the image is fast, and columns are summed in float32: im2col is faster only
     * for this share of the columns.
     */
    private static final double FEWER_COLUMNS = 0.25;

    private final Geometry geometry;
    private final TensorSpec image;
    private final TensorSpec weights;
    private final TensorSpec result;
    private final DType dtype;
    private final long rows;
    private final long places;
    private final long outputs;

    private ConvolutionProducts(Geometry geometry, TensorSpec image, TensorSpec weights, TensorSpec result) {
        this.geometry = geometry;
        this.image = image;
        this.weights = weights;
        this.result = result;
        dtype = image.dtype();
        outputs = weights.shape().dim(0);
        rows = weights.shape().size() / outputs;
        places = result.shape().slice(2, result.shape().rank()).size();
    }

    /** Null where the library's own convolution is faster. */
    static @Nullable ConvolutionProducts of(Geometry geometry, TensorSpec image, TensorSpec weights,
            TensorSpec result) {
        return of(geometry, image, weights, result, 1);
    }

    /** For the gradient of the image; null where the library's own is faster. */
    static @Nullable ConvolutionProducts ofGradInput(Geometry geometry, TensorSpec image, TensorSpec weights,
            TensorSpec result) {
        return of(geometry, image, weights, result, image.dtype() == DType.BFLOAT16 ? FEWER_COLUMNS : 1);
    }

    /** For the gradient of the weights; null where the library's own is faster. */
    static @Nullable ConvolutionProducts ofGradWeights(Geometry geometry, TensorSpec image, TensorSpec weights,
            TensorSpec result) {
        return of(geometry, image, weights, result, image.dtype() == DType.BFLOAT16 ? MORE_COLUMNS : 1);
    }

    private static @Nullable ConvolutionProducts of(Geometry geometry, TensorSpec image, TensorSpec weights,
            TensorSpec result,
            double mostColumns) {
        boolean alike = image.dtype() == weights.dtype() && image.dtype() == result.dtype()
                && (image.dtype() == DType.FLOAT32 || image.dtype() == DType.BFLOAT16);
        boolean plain = geometry.groups() == 1 && alike && weights.isRowMajor() && Specs.areForward(image, result);
        if (!plain || image.shape().size() == 0 || weights.shape().size() < FEWEST_WEIGHTS
                || result.shape().size() == 0) {
            return null;
        }
        long matrix = weights.shape().size() / weights.shape().dim(0) * (result.shape().size() / result.shape().dim(1));
        return mostColumns * weights.shape().size() >= matrix
                ? new ConvolutionProducts(geometry, image, weights, result)
                : null;
    }

    @Nullable
    Kernel forward(Dnnl dnnl, boolean bias, DnnlKernel.Preference preference) {
        return DnnlKernel.of(dnnl, builder -> {
            Operand matrix = gathered(builder);
            Operand product = builder.temporary(DnnlConstants.DST, product(builder));
            MemoryDescriptor added = bias
                    ? builder.describe(new long[]{outputs, 1}, dtype, new long[]{1, 1})
                    : null;
            Attributes attributes = added == null
                    ? builder.attributes()
                    : builder.tryAttributes(ADD, List.of(added));
            PrimitiveDescriptor descriptor = attributes == null
                    ? null
                    : builder.keepFast(builder.primitives().tryMatMul(weights(builder), matrix.descriptor(), null,
                            product.descriptor(), attributes));
            if (descriptor == null) {
                return false;
            }
            Operand given = new Operand(DnnlConstants.SRC, 1, weights(builder));
            if (added != null) {
                builder.step(descriptor, given, matrix, product,
                        new Operand(DnnlConstants.POST_OP | DnnlConstants.SRC_1, 2, added));
            } else {
                builder.step(descriptor, given, matrix, product);
            }
            builder.copy(from(product, imagesInnermost(builder, result, dtype)),
                    new Operand(DnnlConstants.DST, bias ? 3 : 2, builder.describe(result)));
            return true;
        }, preference);
    }

    @Nullable
    Kernel gradInput(Dnnl dnnl, DnnlKernel.Preference preference) {
        return DnnlKernel.of(dnnl, builder -> {
            Im2col columns = new Im2col(geometry, inFloats(image, images()), weights.shape().dims(),
                    result.shape().dims());
            Operand gradient = brought(builder, 0, result);
            Operand matrix = builder.temporary(DnnlConstants.DST, builder.rowMajor(rows, columns()));
            MemoryDescriptor transposed = builder.describe(new long[]{rows, outputs}, dtype, new long[]{1, rows});
            Operand right = new Operand(DnnlConstants.WEIGHTS, gradient.slot(), product(builder));
            PrimitiveDescriptor descriptor = builder.keepFast(builder.primitives().tryMatMul(transposed,
                    right.descriptor(), null, matrix.descriptor(), builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 1, transposed), right, matrix);
            // Sums are computed in float32.
            Operand channels = view(builder, temporary(builder, DnnlConstants.SRC, image, DType.FLOAT32), image,
                    DType.FLOAT32);
            builder.action((scratch, context) -> columns.scatter(scratch, ~matrix.slot(), ~channels.slot(), context));
            builder.copy(channels, new Operand(DnnlConstants.DST, 2, builder.describe(image)));
            return true;
        }, preference);
    }

    @Nullable
    Kernel gradWeights(Dnnl dnnl, boolean bias, WeightTarget to) {
        return DnnlKernel.of(dnnl, builder -> {
            Operand matrix = gathered(builder);
            Operand gradient = brought(builder, 1, result);
            Operand left = new Operand(DnnlConstants.SRC, gradient.slot(), product(builder));
            MemoryDescriptor transposed =
                    builder.describe(new long[]{columns(), rows}, dtype, new long[]{1, columns()});
            MemoryDescriptor target = weights(builder);
            PrimitiveDescriptor descriptor = builder.keepFast(builder.primitives().tryMatMul(left.descriptor(),
                    transposed, null, target, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            Operand product = to.at(builder, DnnlConstants.DST, target);
            builder.step(descriptor, left, new Operand(DnnlConstants.WEIGHTS, matrix.slot(), transposed),
                    product);
            return to.finish(builder, product) && (!bias || addSum(builder, left));
        });
    }

    /** The gradient of the bias: the sum of each row. */
    private boolean addSum(SequenceBuilder builder, Operand gradient) {
        Operand sums = new Operand(DnnlConstants.DST, 3,
                builder.describe(new long[]{outputs, 1}, dtype, new long[]{1, 1}));
        if (columns() == 1) {
            builder.copy(gradient, sums);
            return true;
        }
        PrimitiveDescriptor descriptor = builder.keepFast(
                builder.primitives().tryReduction(Algorithms.reduction(Reduction.Function.SUM), gradient.descriptor(),
                        sums.descriptor(), builder.attributes()));
        if (descriptor == null) {
            return false;
        }
        builder.step(descriptor, gradient, sums);
        return true;
    }

    private Operand gathered(SequenceBuilder builder) {
        Im2col columns = new Im2col(geometry, inFloats(image, images() * dtype.bytes() / Float.BYTES),
                weights.shape().dims(),
                result.shape().dims());
        Operand channels = brought(builder, 0, image);
        Operand matrix = builder.temporary(DnnlConstants.WEIGHTS, matrix(builder));
        builder.action((scratch, context) -> columns.gather(scratch, ~channels.slot(), ~matrix.slot(), context));
        return matrix;
    }

    private static long[] inFloats(TensorSpec spec, long images) {
        long[] dims = spec.shape().dims();
        dims[0] = images;
        return dims;
    }

    /**
     * The number of images, padded so that the elements at one position fill whole floats, which is the unit of the
     * copies.
     */
    private long images() {
        long floats = Math.ceilDiv(image.shape().dim(0) * dtype.bytes(), Float.BYTES);
        return floats * Float.BYTES / dtype.bytes();
    }

    private long columns() {
        return places * images();
    }

    /** Copies an argument to scratch memory with its images innermost; padding images are zero. */
    private Operand brought(SequenceBuilder builder, int slot, TensorSpec spec) {
        Operand whole = temporary(builder, DnnlConstants.DST, spec, dtype);
        if (images() != spec.shape().dim(0)) {
            builder.clear(whole);
        }
        Operand there = view(builder, whole, spec, dtype);
        builder.copy(new Operand(DnnlConstants.SRC, slot, builder.describe(spec)), there);
        return there;
    }

    /** Scratch memory for all images with padding. */
    private Operand temporary(SequenceBuilder builder, int argument, TensorSpec spec, DType of) {
        long size = spec.shape().size() / spec.shape().dim(0) * images();
        return builder.temporary(argument, builder.describe(new long[]{size}, of, new long[]{1}));
    }

    /** The images without padding. */
    private Operand view(SequenceBuilder builder, Operand whole, TensorSpec spec, DType of) {
        return new Operand(whole.argument(), whole.slot(), imagesInnermost(builder, spec, of));
    }

    private static Operand from(Operand operand, MemoryDescriptor descriptor) {
        return new Operand(DnnlConstants.SRC, operand.slot(), descriptor);
    }

    private MemoryDescriptor imagesInnermost(SequenceBuilder builder, TensorSpec spec, DType of) {
        long[] dims = spec.shape().dims();
        long[] strides = new long[dims.length];
        strides[0] = 1;
        long step = images();
        for (int i = dims.length - 1; i > 0; i--) {
            strides[i] = step;
            step *= dims[i];
        }
        return builder.describe(dims, of, strides);
    }

    private MemoryDescriptor matrix(SequenceBuilder builder) {
        return describe(builder, rows, columns());
    }

    private MemoryDescriptor product(SequenceBuilder builder) {
        return describe(builder, outputs, columns());
    }

    private MemoryDescriptor weights(SequenceBuilder builder) {
        return describe(builder, outputs, rows);
    }

    private MemoryDescriptor describe(SequenceBuilder builder, long height, long width) {
        return builder.describe(new long[]{height, width}, dtype, new long[]{width, 1});
    }
}

package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PostOp;
import io.seriatim.tensor.kernel.Reduction;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Convolutions and their gradients as products of the weights, [outputs, channels · window], as they lie in memory, with {@link Columns}. The library's own convolutions copy the weights into a layout of their own first, and their
 * gradients back. That takes longer than gathering columns where weights are many and images small, as in the last layers of a residual network.
 */
final class ConvolutionProducts {
    private static final List<PostOp> ADD = List.of(new PostOp.Combine(Binary.Function.ADD));
    /** Smaller weights stay in the first-level cache while they are copied. */
    private static final long FEWEST_WEIGHTS = 1 << 14;

    private final TensorSpec image;
    private final TensorSpec result;
    private final Columns columns;
    private final long outputs;

    private ConvolutionProducts(Geometry geometry, TensorSpec image, TensorSpec weights, TensorSpec result) {
        this.image = image;
        this.result = result;
        columns = new Columns(geometry, image.shape().dims(), weights.shape().dims(), result.shape().dims());
        outputs = weights.shape().dim(0);
    }

    /** Null where the library's own are faster. */
    static @Nullable ConvolutionProducts of(Geometry geometry, TensorSpec image, TensorSpec weights, TensorSpec result) {
        boolean plain = geometry.groups() == 1 && NormalisationRecipes.areFloat32(image, weights, result) && weights.isRowMajor()
                && Specs.areForward(image, result);
        if (!plain || image.shape().size() == 0 || weights.shape().size() < FEWEST_WEIGHTS || result.shape().size() == 0) {
            return null;
        }
        long matrix = weights.shape().size() / weights.shape().dim(0) * (result.shape().size() / result.shape().dim(1));
        return weights.shape().size() >= matrix ? new ConvolutionProducts(geometry, image, weights, result) : null;
    }

    @Nullable
    Kernel forward(Dnnl dnnl, boolean bias, DnnlKernel.Preference preference) {
        return DnnlKernel.of(dnnl, builder -> {
            Operand matrix = gathered(builder);
            Operand product = builder.temporary(DnnlConstants.DST, product(builder));
            long added = bias ? builder.describe(new long[]{outputs, 1}, DType.FLOAT32, new long[]{1, 1}) : 0;
            long attributes = bias ? builder.attributes(ADD, List.of(added)) : builder.attributes();
            long description = MatMulRecipe.describe(builder, weights(builder), matrix.description(), 0, product.description(), attributes);
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            Operand given = new Operand(DnnlConstants.SRC, 1, weights(builder));
            if (bias) {
                builder.step(description, given, matrix, product, new Operand(DnnlConstants.POST_OP | DnnlConstants.SRC_1, 2, added));
            } else {
                builder.step(description, given, matrix, product);
            }
            builder.copy(from(product, imagesInnermost(builder, result)),
                    new Operand(DnnlConstants.DST, bias ? 3 : 2, builder.describe(result)));
            return true;
        }, preference);
    }

    @Nullable
    Kernel gradInput(Dnnl dnnl) {
        return DnnlKernel.of(dnnl, builder -> {
            Operand gradient = brought(builder, 0, result);
            Operand matrix = builder.temporary(DnnlConstants.DST, matrix(builder));
            long transposed = builder.describe(new long[]{columns.rows(), outputs}, DType.FLOAT32, new long[]{1, columns.rows()});
            Operand right = new Operand(DnnlConstants.WEIGHTS, gradient.slot(), product(builder));
            long description = MatMulRecipe.describe(builder, transposed, right.description(), 0, matrix.description(),
                    builder.attributes());
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            builder.step(description, new Operand(DnnlConstants.SRC, 1, transposed), right, matrix);
            Operand channels = builder.temporary(DnnlConstants.SRC, imagesInnermost(builder, image));
            builder.action((scratch, context) -> columns.scatter(scratch, ~matrix.slot(), ~channels.slot(), context));
            builder.copy(channels, new Operand(DnnlConstants.DST, 2, builder.describe(image)));
            return true;
        });
    }

    @Nullable
    Kernel gradWeights(Dnnl dnnl, boolean bias) {
        return DnnlKernel.of(dnnl, builder -> {
            Operand matrix = gathered(builder);
            Operand gradient = brought(builder, 1, result);
            Operand left = new Operand(DnnlConstants.SRC, gradient.slot(), product(builder));
            long transposed = builder.describe(new long[]{columns.columns(), columns.rows()}, DType.FLOAT32,
                    new long[]{1, columns.columns()});
            long target = weights(builder);
            long description = MatMulRecipe.describe(builder, left.description(), transposed, 0, target, builder.attributes());
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            builder.step(description, left, new Operand(DnnlConstants.WEIGHTS, matrix.slot(), transposed),
                    new Operand(DnnlConstants.DST, 2, target));
            return !bias || addSum(builder, left);
        });
    }

    /** The gradient of the bias: the sum of each row. */
    private boolean addSum(SequenceBuilder builder, Operand gradient) {
        Dnnl dnnl = builder.dnnl();
        Operand sums = new Operand(DnnlConstants.DST, 3, builder.describe(new long[]{outputs, 1}, DType.FLOAT32, new long[]{1, 1}));
        if (columns.columns() == 1) {
            builder.copy(gradient, sums);
            return true;
        }
        long description = builder.keep(Dnnl.handle(out -> dnnl.call("dnnl_reduction_primitive_desc_create", "ppippffp", out, dnnl.engine(),
                Algorithms.reduction(Reduction.Function.SUM), gradient.description(), sums.description(), 0f, 0f, builder.attributes())));
        if (!ElementwiseRecipes.isFast(dnnl, description)) {
            return false;
        }
        builder.step(description, gradient, sums);
        return true;
    }

    private Operand gathered(SequenceBuilder builder) {
        Operand channels = brought(builder, 0, image);
        Operand matrix = builder.temporary(DnnlConstants.WEIGHTS, matrix(builder));
        builder.action((scratch, context) -> columns.gather(scratch, ~channels.slot(), ~matrix.slot(), context));
        return matrix;
    }

    /** An argument with its images innermost, in scratch memory. */
    private static Operand brought(SequenceBuilder builder, int slot, TensorSpec spec) {
        Operand there = builder.temporary(DnnlConstants.DST, imagesInnermost(builder, spec));
        builder.copy(new Operand(DnnlConstants.SRC, slot, builder.describe(spec)), there);
        return there;
    }

    private static Operand from(Operand operand, long description) {
        return new Operand(DnnlConstants.SRC, operand.slot(), description);
    }

    private static long imagesInnermost(SequenceBuilder builder, TensorSpec spec) {
        long[] dims = spec.shape().dims();
        long[] strides = new long[dims.length];
        strides[0] = 1;
        long step = dims[0];
        for (int i = dims.length - 1; i > 0; i--) {
            strides[i] = step;
            step *= dims[i];
        }
        return builder.describe(dims, DType.FLOAT32, strides);
    }

    private long matrix(SequenceBuilder builder) {
        return builder.rowMajor(columns.rows(), columns.columns());
    }

    private long product(SequenceBuilder builder) {
        return builder.rowMajor(outputs, columns.columns());
    }

    private long weights(SequenceBuilder builder) {
        return builder.rowMajor(outputs, columns.rows());
    }
}

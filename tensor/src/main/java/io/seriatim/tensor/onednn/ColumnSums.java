package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sums and means over dimensions that are not the last, such as the gradients of biases. The library's reductions are
 * fast only over the last dimensions, but its average pooling of an image with channels innermost computes the same
 * sums, in float32 for every type, and rounds once. Windows have a power of two of rows, the last one with padding, so
 * that dividing a sum by their number and multiplying it again is exact. Long sums of float32 are computed in stages,
 * which keeps rounding errors small.
 *
 * @param images
 *            the number of elements in the dimensions before the reduced ones
 * @param rows
 *            the number of elements that are summed
 * @param columns
 *            the number of elements in the dimensions after them
 */
record ColumnSums(long images, long rows, long columns) {
    /** A primitive takes longer to start than plain Java takes for so little work. */
    private static final long LEAST_WORK = 2048;
    /** Starting a row costs plain Java as much as so many elements. */
    private static final long ROW = 32;
    private static final long ROWS_OF_STAGE = 64;
    /** For 16-bit numbers, whose sums are rounded to far fewer bits than float32 has. */
    private static final long MOST_ROWS = 1 << 16;

    /** Null for other reductions, and for sums that are too small. */
    static @Nullable Kernel of(Dnnl dnnl, Reduction reduction, TensorSpec x, TensorSpec y) {
        boolean mean = reduction.function() == Reduction.Function.MEAN;
        ColumnSums sums = mean || reduction.function() == Reduction.Function.SUM
                ? of(x.shape(), reduction.reduced(x.shape()))
                : null;
        boolean single = x.dtype() == DType.FLOAT32;
        if (sums == null || sums.rows * (ROW + sums.columns) < LEAST_WORK || (!single && sums.rows > MOST_ROWS)) {
            return null;
        }
        long most = single ? ROWS_OF_STAGE : MOST_ROWS;
        return DnnlKernel.of(dnnl, builder -> sums.build(builder, y.dtype(), most, mean));
    }

    /** Null unless the reduced dimensions are neighbours and others follow them. */
    private static @Nullable ColumnSums of(Shape shape, boolean[] reduced) {
        long[] dims = {1, 1, 1};
        int at = 0;
        for (int i = 0; i < reduced.length; i++) {
            if (shape.dim(i) == 1) {
                continue;
            }
            if (reduced[i] && at == 2) {
                return null;
            }
            at = reduced[i] ? 1 : at == 0 ? 0 : 2;
            dims[at] *= shape.dim(i);
        }
        return at == 2 ? new ColumnSums(dims[0], dims[1], dims[2]) : null;
    }

    private boolean build(SequenceBuilder builder, DType dtype, long most, boolean mean) {
        Operand from = new Operand(DnnlConstants.SRC, 0, describe(builder, rows, dtype));
        long left = rows;
        long scale = 1;
        List<Stage> stages = new ArrayList<>();
        while (left > 1) {
            long window = Math.min(most, power(left));
            long next = Math.ceilDiv(left, window);
            scale *= window;
            MemoryDescriptor target = describe(builder, next, dtype);
            Operand to = next == 1
                    ? new Operand(DnnlConstants.DST, 1, target)
                    : builder.temporary(DnnlConstants.DST, target);
            // The last stage scales the mean of means to the sum, or to the mean of all rows.
            double factor = next > 1 ? 1 : mean ? (double) scale / rows : scale;
            PrimitiveDescriptor descriptor = builder.keepFast(
                    tryPooling(builder, window, next * window - left, factor, from.descriptor(), target));
            if (descriptor == null) {
                return false;
            }
            stages.add(new Stage(descriptor, from, to));
            from = new Operand(DnnlConstants.SRC, to.slot(), to.descriptor());
            left = next;
        }
        stages.forEach(stage -> builder.step(stage.descriptor(), stage.from(), stage.to()));
        return true;
    }

    /** A pooling with its operands. */
    private record Stage(PrimitiveDescriptor descriptor, Operand from, Operand to) {
    }

    /** The smallest power of two that is not less than a number. */
    private static long power(long number) {
        return Long.highestOneBit(2 * number - 1);
    }

    /** As images of one column, channels innermost. */
    private MemoryDescriptor describe(SequenceBuilder builder, long height, DType dtype) {
        return builder.describe(new long[]{images, columns, height, 1}, dtype,
                new long[]{height * columns, 1, columns, columns});
    }

    private static @Nullable PrimitiveDescriptor tryPooling(SequenceBuilder builder, long window, long padding,
            double factor, MemoryDescriptor source, MemoryDescriptor target) {
        int height = Math.toIntExact(window);
        Pooling pooling = new Pooling(Pooling.Kind.AVERAGE_WITH_PADDING, List.of(window, 1L),
                Window.of(new int[]{height, 1}, new int[]{0, 0}, new int[]{Math.toIntExact(padding), 0},
                        new int[]{1, 1}));
        List<PostOp> postOps = factor == 1
                ? List.of()
                : List.of(new PostOp.Apply(Unary.Function.LINEAR, (float) factor, 0));
        Attributes attributes = builder.tryAttributes(postOps, List.of());
        return attributes == null
                ? null
                : PoolingRecipes.tryForward(builder, pooling, DnnlConstants.FORWARD_INFERENCE, source, target,
                        attributes);
    }
}

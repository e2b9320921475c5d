package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.view.BlockedView;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sums of float32 over all dimensions except one in the middle, such as the gradients of convolutions' biases. It is
 * not used for sums over rows alone, which are faster otherwise.
 */
final class BlockedChannelSum extends PortableKernel {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int FEWEST_ROWS = 8;
    private static final int SHORTEST_ROW = 32;

    private final BlockedView panel;

    private BlockedChannelSum(BlockedView panel) {
        this.panel = panel;
    }

    /** Null for other reductions, and for sums that are too small. */
    static @Nullable Kernel of(Reduction reduction, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        if (reduction.function() != Reduction.Function.SUM || x.dtype() != DType.FLOAT32 || y.dtype() != DType.FLOAT32
                || !x.isRowMajor()
                || !y.isRowMajor() || x.shape().size() == 0 || x.shape().size() > Integer.MAX_VALUE) {
            return null;
        }
        Shape shape = flattened(x.shape(), reduction.reduced(x.shape()));
        if (shape.rank() == 0 || shape.dim(2) == 1 || shape.dim(0) < FEWEST_ROWS
                || shape.dim(1) * shape.dim(2) < SHORTEST_ROW) {
            return null;
        }
        return new BlockedChannelSum(BlockedView.of(shape, x.dtype()));
    }

    /**
     * The sizes of the summed dimensions before the kept ones, of the kept ones, and of the summed ones after them;
     * empty if the kept ones are not neighbours.
     */
    private static Shape flattened(Shape shape, boolean[] reduced) {
        long[] dims = {1, 1, 1};
        int at = 0;
        for (int i = 0; i < reduced.length; i++) {
            if (shape.dim(i) == 1) {
                continue;
            }
            if (reduced[i] ? at == 1 : at == 0) {
                at++;
            } else if (!reduced[i] && at == 2) {
                return Shape.of();
            }
            dims[at] *= shape.dim(i);
        }
        return Shape.of(dims);
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        double[] totals = context.doubles(2);
        for (int first = 0; first < panel.channels(); first += panel.channelsOfGroup()) {
            panel.sums(x, first, context, totals);
            int channels = panel.columns(first) / panel.length();
            for (int i = 0; i < channels; i++) {
                y.memory().set(FLOAT, y.offset() + (long) (first + i) * Float.BYTES, (float) totals[i]);
            }
        }
    }
}

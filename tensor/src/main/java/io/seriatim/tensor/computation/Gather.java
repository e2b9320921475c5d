package io.seriatim.tensor.computation;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes slices along an axis; on axis 0 an embedding. Inputs x, indices (int32 or int64, any shape); output x's shape
 * with the axis replaced by the shape of the indices.
 *
 * @param axis
 *            from −rank
 * @param padding
 *            an index whose slice is zeros and gets no gradient; {@link #NO_PADDING} for none
 */
public record Gather(int axis, long padding) implements Computation {
    /** No index is special. */
    public static final long NO_PADDING = Long.MIN_VALUE;

    /**
     * Without padding.
     *
     * @param axis
     *            from −rank
     * @return the computation
     */
    public static Gather of(int axis) {
        return new Gather(axis, NO_PADDING);
    }

    @Override
    public String operation() {
        return "gather";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec x = in.get(0, "x");
        TensorSpec indices = in.get(1, "indices");
        in.whole(indices, "indices");
        in.require(x.shape().rank() > 0, "x needs at least one dimension");
        return new TensorSpec[]{TensorSpec.of(x.dtype(), replaced(x.shape(), x.shape().axis(axis), indices.shape()))};
    }

    /**
     * By the outermost dimension of x, if its slices stay whole: kernels move parts of slices element by element. Not
     * by indices, which messages number as the whole does.
     */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec x = arguments[0];
        if (x != null) {
            for (int i = 0; i < x.shape().axis(axis); i++) {
                if (x.shape().dim(i) > 1) {
                    return List.of(Split.of(i, Split.WHOLE, i));
                }
            }
        }
        return List.of();
    }

    static Shape replaced(Shape shape, int axis, Shape by) {
        long[] dims = new long[shape.rank() - 1 + by.rank()];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = i < axis ? shape.dim(i) : i < axis + by.rank() ? by.dim(i - axis) : shape.dim(i - by.rank() + 1);
        }
        return Shape.of(dims);
    }
}

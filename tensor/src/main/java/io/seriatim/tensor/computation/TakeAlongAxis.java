package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Takes one element for each index, along an axis. Inputs x, indices (int32 or int64) of x's rank, not longer than x in
 * the other dimensions; output of the shape of the indices.
 *
 * @param axis
 *            from −rank
 */
public record TakeAlongAxis(int axis) implements Computation {
    @Override
    public String operation() {
        return "take_along_axis";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec x = in.get(0, "x");
        TensorSpec indices = in.get(1, "indices");
        check(in, x, indices, axis);
        return new TensorSpec[]{TensorSpec.of(x.dtype(), indices.shape())};
    }

    static void check(Operands in, TensorSpec x, TensorSpec indices, int axis) {
        in.whole(indices, "indices");
        in.require(x.shape().rank() > 0 && x.shape().rank() == indices.shape().rank(),
                "x and indices must have the same number of dimensions, at least one");
        int at = x.shape().axis(axis);
        for (int i = 0; i < x.shape().rank(); i++) {
            in.require(i == at || indices.shape().dim(i) <= x.shape().dim(i),
                    "dimension %d of the indices is longer than x's", i);
        }
    }
}

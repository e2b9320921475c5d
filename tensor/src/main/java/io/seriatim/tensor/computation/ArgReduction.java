package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Where the largest or smallest element along an axis is. Input x; output int64 of x's shape with the axis left out, or
 * of length 1. Of equal elements the first; a NaN counts as the extreme.
 *
 * @param largest
 *            whether the largest is looked for
 * @param axis
 *            from −rank
 * @param keepDims
 *            whether the axis stays, with length 1
 */
public record ArgReduction(boolean largest, int axis, boolean keepDims) implements Computation {
    @Override
    public String operation() {
        return "arg_reduction";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.require(x.shape().rank() > 0, "x needs at least one dimension");
        in.require(x.shape().dim(axis) > 0, "axis %d of x is empty, so it has no extreme", axis);
        Shape kept = x.shape().with(axis, 1);
        if (keepDims) {
            return new TensorSpec[]{TensorSpec.of(DType.INT64, kept)};
        }
        int at = x.shape().axis(axis);
        long[] dims = new long[kept.rank() - 1];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = kept.dim(i < at ? i : i + 1);
        }
        return new TensorSpec[]{TensorSpec.of(DType.INT64, dims)};
    }
}

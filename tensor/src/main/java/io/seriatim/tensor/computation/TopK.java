package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The first elements in order along an axis; all of them is a sort. Input x; outputs the values and their indices
 * (int64), with the axis of length k. Equal elements keep their order; a NaN is the largest.
 *
 * @param k
 *            how many; from 0 to the length of the axis
 * @param axis
 *            from −rank
 * @param largest
 *            whether the largest come first
 */
public record TopK(long k, int axis, boolean largest) implements Computation {
    @Override
    public String operation() {
        return "top_k";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.require(x.shape().rank() > 0, "x needs at least one dimension");
        in.require(k >= 0 && k <= x.shape().dim(axis), "k must be from 0 to %d, the length of axis %d, but is %d",
                x.shape().dim(axis),
                axis, k);
        Shape shape = x.shape().with(axis, k);
        return new TensorSpec[]{TensorSpec.of(x.dtype(), shape), TensorSpec.of(DType.INT64, shape)};
    }
}

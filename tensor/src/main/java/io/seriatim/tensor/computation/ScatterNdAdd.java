package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Adds slices to a copy at index tuples; with zeros it is the gradient of {@link GatherNd}. Inputs x, indices (int32 or
 * int64, [..., k]), updates of the shape indices.shape[:-1] + x.shape[k:]; output x with the updates added, repeated
 * indices repeatedly.
 */
public record ScatterNdAdd() implements Computation {
    @Override
    public String operation() {
        return "scatter_nd_add";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec x = in.get(0, "x");
        TensorSpec indices = in.get(1, "indices");
        TensorSpec updates = in.get(2, "updates");
        in.whole(indices, "indices");
        in.sameType(x, updates, "x and updates");
        in.require(updates.shape().equals(GatherNd.result(in, x.shape(), indices.shape())),
                "updates must have the shape %s",
                GatherNd.result(in, x.shape(), indices.shape()));
        return new TensorSpec[]{x.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 3, arguments);
    }
}

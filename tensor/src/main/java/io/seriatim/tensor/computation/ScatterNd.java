package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Writes slices to a copy at index tuples; adding to zeros is the gradient of {@link GatherNd}. Inputs x, indices
 * (int32 or int64, [..., k], from 0), updates of the shape indices.shape[:-1] + x.shape[k:]; output x with the updates,
 * repeated indices repeatedly, in their order.
 *
 * @param function
 *            what an update and the element at its place become
 */
public record ScatterNd(Function function) implements Computation {
    /** What an update does. */
    public enum Function {
        /** It replaces the element. */
        ASSIGN,
        /** It is added. */
        ADD,
        /** It is a factor. */
        MULTIPLY,
        /** The larger of both stays; NaN if either is. */
        MAXIMUM,
        /** The smaller of both stays; NaN if either is. */
        MINIMUM
    }

    @Override
    public String operation() {
        return "scatter_nd";
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

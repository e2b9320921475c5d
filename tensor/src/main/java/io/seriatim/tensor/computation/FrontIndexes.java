package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds the length of an axis to indices that are negative, and thus count from the end of the axis. Input indices
 * (int32 or int64); output of their shape. Indices that are out of range stay so.
 *
 * @param lengths
 *            one for all indices, or one for each place on their last dimension, as tuples of indices need
 */
public record FrontIndexes(List<Long> lengths) implements Computation {
    /** Copies the list. */
    public FrontIndexes {
        lengths = List.copyOf(lengths);
    }

    @Override
    public String operation() {
        return "front_indexes";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec indices = in.get(0, "indices");
        in.whole(indices, "indices");
        in.require(!lengths.isEmpty(), "there must be a length");
        in.require(lengths.size() == 1 || (indices.shape().rank() > 0 && indices.shape().dim(-1) == lengths.size()),
                "%d lengths are not one for each place on the last dimension of the indices", lengths.size());
        return new TensorSpec[]{indices.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 1, arguments);
    }
}

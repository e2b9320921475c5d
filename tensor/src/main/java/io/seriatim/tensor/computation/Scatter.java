package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Writes rows into a copy. Inputs x [n, ...], indices (int32 or int64, [m]), updates [m, ...]; output x with the rows
 * at the indices replaced, the last of repeated ones winning, or, when not overwriting, cleared and then added up, as
 * Paddle does.
 *
 * @param overwrite
 *            whether rows are replaced
 */
public record Scatter(boolean overwrite) implements Computation {
    @Override
    public String operation() {
        return "scatter";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec x = in.get(0, "x");
        TensorSpec indices = in.get(1, "indices");
        TensorSpec updates = in.get(2, "updates");
        in.whole(indices, "indices");
        in.sameType(x, updates, "x and updates");
        in.require(
                x.shape().rank() > 0 && updates.shape().rank() == x.shape().rank()
                        && updates.shape().equals(x.shape().with(0, indices.shape().size())),
                "updates must have x's shape with as many rows as there are indices");
        return new TensorSpec[]{x.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 3, arguments);
    }
}

package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a triangle of matrices and clears the rest. Input x [..., m, n]; output of its shape. Its gradient is itself.
 *
 * @param upper
 *            whether the upper triangle is kept, else the lower
 * @param diagonal
 *            which diagonal it ends at: 0 the main one, above it positive
 */
public record Triangle(boolean upper, long diagonal) implements Computation {
    @Override
    public String operation() {
        return "triangle";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.require(x.shape().rank() >= 2, "x needs at least two dimensions");
        return new TensorSpec[]{x.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 1, arguments);
    }
}

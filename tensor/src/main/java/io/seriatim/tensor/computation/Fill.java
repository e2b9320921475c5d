package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Sets every element. No inputs; the output is any tensor. Whole-number types get the value truncated.
 *
 * @param value
 *            of every element
 */
public record Fill(double value) implements Computation {
    @Override
    public String operation() {
        return "fill";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands.of(operation(), inputs, 0, 0);
        return new TensorSpec[0];
    }
}

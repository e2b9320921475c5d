package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Evenly spaced numbers. No inputs; the output is any tensor, whose element i in row-major order is start + i · step.
 *
 * @param start
 *            the first
 * @param step
 *            the distance of two
 */
public record Range(double start, double step) implements Computation {
    @Override
    public String operation() {
        return "range";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands.of(operation(), inputs, 0, 0);
        return new TensorSpec[0];
    }
}

package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The sums of all elements up to each one along an axis. Input x; output of its shape. Its gradient is the scan in the
 * other direction.
 *
 * @param axis
 *            from −rank
 * @param exclusive
 *            whether an element is left out of its own sum
 * @param reverse
 *            whether it runs from the end
 */
public record Scan(int axis, boolean exclusive, boolean reverse) implements Computation {
    @Override
    public String operation() {
        return "scan";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.require(x.shape().rank() > 0, "x needs at least one dimension");
        x.shape().axis(axis);
        return new TensorSpec[]{x.rowMajor()};
    }
}

package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Whether there is neither an infinity nor a NaN. Inputs: one tensor or more, of any types and shapes; output a bool
 * without dimensions.
 */
public record AllFinite() implements Computation {
    @Override
    public String operation() {
        return "all_finite";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, Integer.MAX_VALUE);
        for (int i = 0; i < inputs.length; i++) {
            in.get(i, "number " + i);
        }
        return new TensorSpec[]{TensorSpec.of(DType.BOOL, Shape.of())};
    }
}

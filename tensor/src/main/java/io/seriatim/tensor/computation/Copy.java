package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies, casts, transposes, and reorders to and from opaque layouts: whatever differs between input and output but the
 * shape, to which the input broadcasts. With the type of the output left null it is the input's.
 *
 * @param to
 *            the output's type, or null for the input's
 */
public record Copy(io.seriatim.tensor.@Nullable DType to) implements Computation {
    /** To the same type. */
    public static final Copy PLAIN = new Copy(null);

    @Override
    public String operation() {
        return "copy";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        TensorSpec x = Operands.of(operation(), inputs, 1, 1).get(0, "x");
        return new TensorSpec[]{x.with(to == null ? x.dtype() : to)};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 1, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}

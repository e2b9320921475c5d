package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Complex numbers with the other sign of their imaginary part. Input x, complex; output of its type and shape. */
public record Conjugate() implements Computation {
    @Override
    public String operation() {
        return "conjugate";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.require(x.dtype().isComplex(), "x must be complex, but is %s", x.dtype());
        return new TensorSpec[]{x.rowMajor()};
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

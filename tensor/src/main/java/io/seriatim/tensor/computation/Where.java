package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Chooses by element. Inputs condition (bool), x, y, which broadcast; output x where the condition holds, else y. The
 * kernel is chosen by x's type.
 */
public record Where() implements Computation {
    @Override
    public String operation() {
        return "where";
    }

    @Override
    public DType keyType(@Nullable TensorSpec... arguments) {
        return Operands.of(operation(), arguments, 3, 4).get(1, "x").dtype();
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec condition = in.get(0, "condition");
        TensorSpec x = in.get(1, "x");
        TensorSpec y = in.get(2, "y");
        in.require(condition.dtype() == DType.BOOL, "the condition must be bool, but is %s", condition.dtype());
        in.sameType(x, y, "x and y");
        return new TensorSpec[]{TensorSpec.of(x.dtype(), condition.shape().broadcast(x.shape()).broadcast(y.shape()))};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return Operands.alike(input, 3, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}

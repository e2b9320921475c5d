package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a softmax. Inputs y (the result), dy; output dx = y · (dy − Σ dy·y), and for the logarithm dx = dy −
 * exp(y) · Σ dy.
 *
 * @param axis
 *            from −rank
 * @param log
 *            whether y is the logarithm
 */
public record SoftmaxGrad(int axis, boolean log) implements Computation {
    @Override
    public String operation() {
        return "softmax_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec y = in.get(0, "y");
        TensorSpec dy = in.get(1, "dy");
        in.floating(y, "y");
        in.sameType(y, dy, "y and dy");
        in.require(y.shape().equals(dy.shape()), "y and dy must have one shape");
        return new TensorSpec[]{y.rowMajor()};
    }

    /** All. */
    @Override
    public boolean mixes(int argument) {
        return true;
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 1 && Operands.alike(input, 2, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec y = arguments[0];
        return y == null || y.shape().rank() == 0
                ? List.of()
                : Split.elementwiseBut(y.shape().axis(axis), y.shape(), arguments);
    }
}

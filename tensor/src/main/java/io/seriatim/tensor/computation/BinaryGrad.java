package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The gradients of a function of two elements. Inputs x, y, dout; outputs dx and dy, summed over what was broadcast;
 * either may be left out. Of equal operands, the maximum and minimum give half of the gradient to each.
 *
 * @param function
 *            the function
 */
public record BinaryGrad(Binary.Function function) implements Computation {
    @Override
    public String operation() {
        return "binary_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec x = in.get(0, "x");
        TensorSpec y = in.get(1, "y");
        TensorSpec dout = in.get(2, "dout");
        in.floating(x, "x");
        in.sameType(x, y, "x and y");
        in.sameType(x, dout, "x and dout");
        in.require(x.shape().broadcast(y.shape()).equals(dout.shape()),
                "dout must have the shape that x and y broadcast to");
        return new TensorSpec[]{x.rowMajor(), y.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        TensorSpec dout = arguments[2];
        TensorSpec gradient = Operands.firstOutput(3, arguments);
        // A gradient that is summed reads elements of the inputs again after it has been written.
        return dout != null && gradient != null && gradient.shape().equals(dout.shape())
                && Operands.alike(input, 3, arguments);
    }
}

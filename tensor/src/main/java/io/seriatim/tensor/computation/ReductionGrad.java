package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a reduction. Inputs x, y (the result; may be left out for sum and mean), dy; output dx of x's shape.
 * The maximum and minimum pass the gradient to every element equal to the result, as Paddle does.
 *
 * @param reduction
 *            the forward computation
 */
public record ReductionGrad(Reduction reduction) implements Computation {
    @Override
    public String operation() {
        return "reduction_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec x = in.get(0, "x");
        TensorSpec dy = in.get(2, "dy");
        in.differentiable(x, "x");
        in.require(reduction.infer(x)[0].shape().equals(dy.shape()), "dy must have the shape of the result");
        return new TensorSpec[]{x.rowMajor()};
    }
}

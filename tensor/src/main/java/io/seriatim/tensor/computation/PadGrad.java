package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of padding: every element of x gets the sum over the elements of the result that are copies of it. Input
 * dy; output dx.
 *
 * @param forward
 *            the forward computation
 */
public record PadGrad(Pad forward) implements Computation {
    @Override
    public String operation() {
        return "pad_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec dy = in.get(0, "dy");
        in.differentiable(dy, "dy");
        long[] dims = dy.shape().dims();
        in.require(forward.before().size() == dims.length, "dy needs %d dimensions", forward.before().size());
        for (int i = 0; i < dims.length; i++) {
            dims[i] -= forward.before().get(i) + forward.after().get(i);
            in.require(dims[i] >= 0, "dimension %d of dy is shorter than its padding", i);
        }
        return new TensorSpec[]{TensorSpec.of(dy.dtype(), dims)};
    }
}

package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a gather: slices are added at their indices to zeros. Inputs dy, indices; output dx.
 *
 * @param forward
 *            the forward computation
 * @param shape
 *            the dimensions of x
 */
public record GatherGrad(Gather forward, List<Long> shape) implements Computation {
    /** Copies the list. */
    public GatherGrad {
        shape = List.copyOf(shape);
    }

    @Override
    public String operation() {
        return "gather_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec dy = in.get(0, "dy");
        TensorSpec dx = TensorSpec.of(dy.dtype(), shape.stream().mapToLong(Long::longValue).toArray());
        in.differentiable(dy, "dy");
        in.require(forward.infer(dx, in.get(1, "indices"))[0].shape().equals(dy.shape()),
                "dy must have the shape of the result of the gather from %s", dx.shape());
        return new TensorSpec[]{dx};
    }
}

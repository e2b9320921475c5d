package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of an interpolation. Input dy [n, c, output...]; output dx [n, c, spatial...], whose spatial dimensions
 * are parameters.
 *
 * @param forward
 *            the forward computation
 * @param spatial
 *            the spatial dimensions of dx
 */
public record InterpolationGrad(Interpolation forward, List<Long> spatial) implements Computation {
    /** Copies the list. */
    public InterpolationGrad {
        spatial = List.copyOf(spatial);
    }

    @Override
    public String operation() {
        return "interpolation_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec dy = in.get(0, "dy");
        in.require(dy.shape().rank() == spatial.size() + 2, "dy needs %d dimensions", spatial.size() + 2);
        long[] dims = dy.shape().dims();
        for (int i = 0; i < spatial.size(); i++) {
            dims[2 + i] = spatial.get(i);
        }
        TensorSpec dx = TensorSpec.of(dy.dtype(), dims);
        in.require(forward.infer(dx)[0].shape().equals(dy.shape()),
                "dy must have the shape of the interpolation's result");
        return new TensorSpec[]{dx};
    }
}

package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of group normalisation. Inputs x, dy, scale [c] (left out as in the forward), mean [n, groups], variance
 * [n, groups]; outputs dx, dscale and dbias, which are there as scale and bias are.
 *
 * @param forward
 *            the forward computation
 */
public record GroupNormGrad(GroupNorm forward) implements Computation {
    @Override
    public String operation() {
        return "group_norm_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = 4 + (forward.scale() ? 1 : 0);
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec x = in.get(0, "x");
        TensorSpec dy = in.get(1, "dy");
        in.floating(x, "x");
        in.require(x.shape().equals(dy.shape()) && x.dtype() == dy.dtype(), "x and dy must have one type and shape");
        forward.checkGroups(in, x);
        long channels = x.shape().dim(1);
        TensorSpec parameter = forward.scale() ? in.get(2, "scale") : TensorSpec.of(x.dtype(), channels);
        in.floating(parameter, "scale");
        in.require(parameter.shape().size() == channels, "scale must have %d elements", channels);
        long statistics = x.shape().dim(0) * forward.groups();
        TensorSpec mean = in.get(count - 2, "mean");
        TensorSpec variance = in.get(count - 1, "variance");
        in.floating(mean, "mean");
        in.floating(variance, "variance");
        in.require(mean.shape().size() == statistics && variance.shape().size() == statistics,
                "mean and variance must have %d elements, but have %s and %s", statistics, mean.shape(),
                variance.shape());
        TensorSpec gradient = TensorSpec.of(parameter.dtype(), channels);
        if (forward.scale() && forward.bias()) {
            return new TensorSpec[]{x.rowMajor(), gradient, gradient};
        }
        return forward.scale() || forward.bias()
                ? new TensorSpec[]{x.rowMajor(), gradient}
                : new TensorSpec[]{x.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 1 && Operands.alike(input, 4 + (forward.scale() ? 1 : 0), arguments);
    }
}

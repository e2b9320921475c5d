package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of layer normalisation. Inputs x, dy, scale (left out as in the forward), mean, variance; outputs dx,
 * dscale and dbias, which are there as scale and bias are. With x̂ = (x − mean) / √(variance + ε) and g = dy · scale:
 * dx = (g − mean(g) − x̂ · mean(g · x̂)) / √(variance + ε), dscale = Σ dy · x̂, dbias = Σ dy over the rows.
 *
 * @param forward
 *            the forward computation
 */
public record LayerNormGrad(LayerNorm forward) implements Computation {
    @Override
    public String operation() {
        return "layer_norm_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = 4 + (forward.scale() ? 1 : 0);
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec x = in.get(0, "x");
        TensorSpec dy = in.get(1, "dy");
        in.floating(x, "x");
        in.require(x.shape().equals(dy.shape()) && x.dtype() == dy.dtype(), "x and dy must have one type and shape");
        int at = x.shape().axis(forward.axis());
        long rows = x.shape().slice(0, at).size();
        long length = x.shape().slice(at, x.shape().rank()).size();
        TensorSpec parameter = forward.scale() ? in.get(2, "scale") : TensorSpec.of(x.dtype(), length);
        in.floating(parameter, "scale");
        in.require(parameter.shape().size() == length, "scale must have %d elements", length);
        TensorSpec mean = in.get(count - 2, "mean");
        TensorSpec variance = in.get(count - 1, "variance");
        in.floating(mean, "mean");
        in.floating(variance, "variance");
        in.require(mean.shape().size() == rows && variance.shape().size() == rows,
                "mean and variance must have %d elements, but have %s and %s", rows, mean.shape(), variance.shape());
        TensorSpec gradient = TensorSpec.of(parameter.dtype(), length);
        if (forward.scale() && forward.bias()) {
            return new TensorSpec[]{x.rowMajor(), gradient, gradient};
        }
        return forward.scale() || forward.bias()
                ? new TensorSpec[]{x.rowMajor(), gradient}
                : new TensorSpec[]{x.rowMajor()};
    }

    /** x, dy and dx. */
    @Override
    public boolean mixes(int argument) {
        return argument < 2 || argument == 4 + (forward.scale() ? 1 : 0);
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 1 && Operands.alike(input, 4 + (forward.scale() ? 1 : 0), arguments);
    }

    /** By rows, if no gradients are wanted that are summed over them. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec x = arguments[0];
        int inputs = 4 + (forward.scale() ? 1 : 0);
        boolean summed = Arrays.stream(arguments).skip(inputs + 1).anyMatch(Objects::nonNull);
        if (x == null || summed || x.shape().axis(forward.axis()) == 0) {
            return List.of();
        }
        int[] axes = new int[arguments.length];
        if (forward.scale()) {
            axes[2] = Split.WHOLE;
        }
        return List.of(Split.of(axes));
    }
}

package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of batch normalisation. Inputs x, dy, scale [c], and the batch's mean [c] and inverse deviation 1 /
 * √(variance + ε) [c] (when training), or the mean and variance that were given; outputs dx, dscale [c], dbias [c].
 *
 * @param forward
 *            the forward computation
 */
public record BatchNormGrad(BatchNorm forward) implements Computation {
    @Override
    public String operation() {
        return "batch_norm_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 5, 5);
        TensorSpec x = in.get(0, "x");
        TensorSpec dy = in.get(1, "dy");
        in.floating(x, "x");
        in.require(x.shape().equals(dy.shape()) && x.dtype() == dy.dtype(), "x and dy must have one type and shape");
        BatchNorm.checkChannels(in, x, 2, 5);
        TensorSpec channel = TensorSpec.of(x.dtype().arithmetic(), x.shape().dim(1));
        return new TensorSpec[]{x.rowMajor(), channel, channel};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 1 && Operands.alike(input, 5, arguments);
    }
}

package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradients of {@link BilinearSamples} for places and weights. Inputs x, places, weights (may be left out), dy;
 * outputs dplaces [n, 2, m] and dweights [n, m]: the products of dy with the samples, summed over the channels. At an
 * element, the slope is that towards the next one.
 */
public record BilinearSamplesGradPlaces() implements Computation {
    @Override
    public String operation() {
        return "bilinear_samples_grad_places";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 4, 4);
        TensorSpec x = in.get(0, "x");
        TensorSpec places = in.get(1, "places");
        TensorSpec dy = in.get(3, "dy");
        TensorSpec y = new BilinearSamples().infer(x, places, in.optional(2))[0];
        in.sameType(x, dy, "x and dy");
        in.require(y.shape().equals(dy.shape()), "dy must be %s, but is %s", y.shape(), dy.shape());
        return new TensorSpec[]{places.rowMajor(),
                TensorSpec.of(x.dtype(), places.shape().dim(0), places.shape().dim(2))};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return List.of(BilinearSamples.split(arguments, 0, 0, 0, 0, 0, 0),
                BilinearSamples.split(arguments, Split.WHOLE, 2, 1, 2, 2, 1));
    }
}

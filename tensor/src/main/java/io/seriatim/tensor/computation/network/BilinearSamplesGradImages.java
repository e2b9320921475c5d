package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of {@link BilinearSamples} for the images. Inputs places, weights (may be left out), dy; output dx [n,
 * c, h, w], whose height and width are parameters.
 *
 * @param spatial
 *            the height and the width of dx
 */
public record BilinearSamplesGradImages(List<Long> spatial) implements Computation {
    /** Copies the list. */
    public BilinearSamplesGradImages {
        spatial = List.copyOf(spatial);
    }

    @Override
    public String operation() {
        return "bilinear_samples_grad_images";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec dy = in.get(2, "dy");
        in.floating(dy, "dy");
        in.require(dy.shape().rank() == 3 && spatial.size() == 2,
                "dy must have three dimensions and spatial two numbers, but they are %s and %s", dy.shape(), spatial);
        long samples = BilinearSamples.checkPlaces(in, dy, in.get(0, "places"), in.optional(1));
        in.require(dy.shape().dim(2) == samples, "dy must have %d samples, but has %d", samples, dy.shape().dim(2));
        return new TensorSpec[]{
                TensorSpec.of(dy.dtype(), dy.shape().dim(0), dy.shape().dim(1), spatial.get(0), spatial.get(1))};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return List.of(BilinearSamples.split(arguments, 0, 0, 0, 0),
                BilinearSamples.split(arguments, Split.WHOLE, Split.WHOLE, 1, 1));
    }
}

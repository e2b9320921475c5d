package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Samples of images between their elements, by bilinear interpolation, as deformable convolutions need them (Dai et
 * al.: Deformable Convolutional Networks, 2017). Inputs x [n, c, h, w], places [n, 2, m] with the row and the column of
 * each sample, and optionally weights [n, m]; output y [n, c, m]: each sample, times its weight. Elements outside of
 * the image are zeros.
 */
public record BilinearSamples() implements Computation {
    @Override
    public String operation() {
        return "bilinear_samples";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        in.images(x.shape(), 2, "x");
        long samples = checkPlaces(in, x, in.get(1, "places"), in.optional(2));
        return new TensorSpec[]{TensorSpec.of(x.dtype(), x.shape().dim(0), x.shape().dim(1), samples)};
    }

    /** Checks places and weights, and returns the number of samples. */
    static long checkPlaces(Operands in, TensorSpec x, TensorSpec places, @Nullable TensorSpec weights) {
        in.sameType(x, places, "images and places");
        long batch = x.shape().dim(0);
        in.require(
                places.shape().rank() == 3 && places.shape().dim(0) == batch && places.shape().dim(1) == 2,
                "places must be [%d, 2, m], but are %s", batch, places.shape());
        long samples = places.shape().dim(2);
        if (weights != null) {
            in.sameType(x, weights, "images and weights");
            in.require(
                    weights.shape().rank() == 2 && weights.shape().dim(0) == batch
                            && weights.shape().dim(1) == samples,
                    "weights must be [%d, %d], but are %s", batch, samples, weights.shape());
        }
        return samples;
    }

    /** A split of arguments, some of which are left out. */
    static Split split(@Nullable TensorSpec[] arguments, int... axes) {
        int[] own = axes.clone();
        for (int i = 0; i < own.length; i++) {
            own[i] = arguments[i] == null ? Split.WHOLE : own[i];
        }
        return Split.of(own);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return List.of(split(arguments, 0, 0, 0, 0), split(arguments, 1, Split.WHOLE, Split.WHOLE, 1),
                split(arguments, Split.WHOLE, 2, 1, 2));
    }
}

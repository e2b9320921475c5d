package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Regions of images resampled to one size (He et al.: Mask R-CNN, 2017). Inputs x [n, c, h, w], regions [r, 4] of x's
 * type, each x₁, y₁, x₂, y₂, and images [r] (int32 or int64), the image of each region; output y [r, c, height, width].
 * An element of y is the mean of bilinear samples of x on a grid in its bin of the region. A sample counts as 0 if it
 * is more than one element outside of the image; the mean of no samples is NaN.
 *
 * @param height
 *            the height of the result
 * @param width
 *            the width of the result
 * @param scale
 *            the factor from a region's coordinates to those of x
 * @param samples
 *            the number of samples of a bin along each axis; 0 for one sample an element of x
 * @param aligned
 *            whether an element of x lies at its center, ½ after its index, and regions may be smaller than an element
 */
public record RoiAlign(int height, int width, float scale, int samples, boolean aligned) implements Computation {
    @Override
    public String operation() {
        return "roi_align";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec x = in.get(0, "x");
        TensorSpec regions = in.get(1, "regions");
        TensorSpec images = in.get(2, "images");
        in.floating(x, "x");
        in.images(x.shape(), 2, "x");
        in.require(x.shape().dim(2) > 0 && x.shape().dim(3) > 0, "spatial dimensions must not be empty");
        in.require(height > 0 && width > 0 && samples >= 0,
                "height and width must be from 1 on, and samples from 0 on, but are %d, %d and %d", height, width,
                samples);
        in.sameType(x, regions, "x and regions");
        in.whole(images, "images");
        in.require(
                regions.shape().rank() == 2 && regions.shape().dim(1) == 4 && images.shape().rank() == 1
                        && images.shape().dim(0) == regions.shape().dim(0),
                "regions must be [r, 4] and images [r], but are %s and %s", regions.shape(), images.shape());
        return new TensorSpec[]{
                TensorSpec.of(x.dtype(), regions.shape().dim(0), x.shape().dim(1), height, width)};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return List.of(Split.of(1, Split.WHOLE, Split.WHOLE, 1), Split.of(Split.WHOLE, 0, 0, 0));
    }
}

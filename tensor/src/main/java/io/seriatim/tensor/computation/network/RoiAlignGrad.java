package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of {@link RoiAlign} for its images. Inputs regions, images, dy; output dx [n, c, h, w], of which n, h
 * and w are parameters.
 *
 * @param forward
 *            the forward computation
 * @param batch
 *            the number of images
 * @param spatial
 *            the height and the width of dx
 */
public record RoiAlignGrad(RoiAlign forward, long batch, List<Long> spatial) implements Computation {
    /** Copies the list. */
    public RoiAlignGrad {
        spatial = List.copyOf(spatial);
    }

    @Override
    public String operation() {
        return "roi_align_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec regions = in.get(0, "regions");
        TensorSpec dy = in.get(2, "dy");
        in.require(dy.shape().rank() == 4 && spatial.size() == 2 && batch >= 0,
                "dy must have four dimensions and spatial two numbers, but they are %s and %s", dy.shape(), spatial);
        TensorSpec dx = TensorSpec.of(dy.dtype(), batch, dy.shape().dim(1), spatial.get(0), spatial.get(1));
        in.require(forward.infer(dx, regions, in.get(1, "images"))[0].shape().equals(dy.shape()),
                "dy must have the shape of the forward computation's result");
        return new TensorSpec[]{dx};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return List.of(Split.of(Split.WHOLE, Split.WHOLE, 1, 1));
    }
}

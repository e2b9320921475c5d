package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PostOp;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The weight gradient of a convolution with a kernel of one element: the sum over images of products of the result's gradient, [outputs, pixels], and the image, [pixels, channels]. The library's own brings images, of which there is
 * much for little arithmetic, to a layout of its own first.
 */
final class PointwiseGradWeights {
    /** Of an image. With fewer, adding to the sum takes as long as the product; with fewer weights, a call takes longer than its arithmetic. */
    private static final long FEWEST_PIXELS = 64;
    private static final long FEWEST_WEIGHTS = 512;

    private PointwiseGradWeights() {
    }

    /** Null where the library's own is as fast. */
    static @Nullable Kernel of(Dnnl dnnl, Geometry geometry, TensorSpec x, TensorSpec dy, TensorSpec dw) {
        boolean plain = NormalisationRecipes.areFloat32(x, dy, dw) && x.isRowMajor() && dy.isRowMajor() && dw.isRowMajor();
        if (!plain || !geometry.isPointwise(dw.shape())) {
            return null;
        }
        long images = x.shape().dim(0);
        long channels = x.shape().dim(1);
        long outputs = dy.shape().dim(1);
        long pixels = x.shape().slice(2, x.shape().rank()).size();
        return pixels < FEWEST_PIXELS || outputs * channels < FEWEST_WEIGHTS ? null : DnnlKernel.of(dnnl, builder -> {
            long left = builder.rowMajor(outputs, pixels);
            long right = builder.describe(new long[]{pixels, channels}, DType.FLOAT32, new long[]{1, pixels});
            Operand sum = new Operand(DnnlConstants.DST, 2, builder.rowMajor(outputs, channels));
            long first = MatMulRecipe.describe(builder, left, right, 0, sum.description(), builder.attributes());
            long more = MatMulRecipe.describe(builder, left, right, 0, sum.description(),
                    builder.attributes(List.of(new PostOp.Accumulate(1)), List.of()));
            if (!ElementwiseRecipes.isFast(dnnl, first) || !ElementwiseRecipes.isFast(dnnl, more)) {
                return false;
            }
            builder.step(first, new Operand(DnnlConstants.SRC, 1, left), new Operand(DnnlConstants.WEIGHTS, 0, right), sum);
            builder.repeat(Math.toIntExact(images - 1));
            long gradient = outputs * pixels * Float.BYTES;
            long image = channels * pixels * Float.BYTES;
            builder.step(more, new Operand(DnnlConstants.SRC, 1, left, gradient, gradient),
                    new Operand(DnnlConstants.WEIGHTS, 0, right, image, image), sum);
            return true;
        });
    }
}

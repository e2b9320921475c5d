package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of the weights of a convolution with a kernel of one element: the sum over images of the products of the
 * result's gradient, [outputs, pixels], and the image, [pixels, channels]. The library's own gradient reorders the
 * images first, which takes long compared with so little arithmetic.
 */
final class PointwiseGradWeights {
    /**
     * The fewest pixels of an image: with fewer, adding to the sum takes as long as the product. With fewer weights, a
     * call takes longer than its arithmetic.
     */
    private static final long FEWEST_PIXELS = 64;
    private static final long FEWEST_WEIGHTS = 512;

    private PointwiseGradWeights() {
    }

    /** Null where the library's own gradient is as fast. */
    static @Nullable Kernel of(Dnnl dnnl, Geometry geometry, TensorSpec x, TensorSpec dy, TensorSpec dw,
            WeightTarget to) {
        boolean plain = x.dtype() == dy.dtype() && x.dtype() == dw.dtype() && x.isRowMajor() && dy.isRowMajor()
                && dw.isRowMajor();
        DType dtype = x.dtype();
        if (!plain || (dtype != DType.FLOAT32 && dtype != DType.BFLOAT16) || geometry.groups() != 1
                || !geometry.isPointwise(dw.shape())) {
            return null;
        }
        long images = x.shape().dim(0);
        long channels = x.shape().dim(1);
        long outputs = dy.shape().dim(1);
        long pixels = x.shape().slice(2, x.shape().rank()).size();
        return pixels < FEWEST_PIXELS || outputs * channels < FEWEST_WEIGHTS ? null : DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor left = builder.describe(new long[]{outputs, pixels}, dtype, new long[]{pixels, 1});
            MemoryDescriptor right = builder.describe(new long[]{pixels, channels}, dtype, new long[]{1, pixels});
            MemoryDescriptor result = builder.rowMajor(outputs, channels);
            // The sum is computed in float32.
            Operand sum = dtype == DType.FLOAT32
                    ? to.at(builder, DnnlConstants.DST, result)
                    : builder.temporary(DnnlConstants.DST, result);
            PrimitiveDescriptor first = builder
                    .keepFast(builder.primitives().tryMatMul(left, right, null, result, builder.attributes()));
            PrimitiveDescriptor more = builder
                    .keepFast(builder.primitives().tryMatMul(left, right, null, result, builder.accumulating()));
            if (first == null || more == null) {
                return false;
            }
            builder.step(first, new Operand(DnnlConstants.SRC, 1, left), new Operand(DnnlConstants.WEIGHTS, 0, right),
                    sum);
            builder.repeat(Math.toIntExact(images - 1));
            long gradient = outputs * pixels * dtype.bytes();
            long image = channels * pixels * dtype.bytes();
            builder.step(more, new Operand(DnnlConstants.SRC, 1, left, gradient, gradient),
                    new Operand(DnnlConstants.WEIGHTS, 0, right, image, image), sum);
            if (to.adds()) {
                builder.endRepeat();
                return dtype == DType.FLOAT32 && to.finish(builder, sum);
            }
            if (dtype != DType.FLOAT32) {
                builder.endRepeat();
                builder.copy(new Operand(DnnlConstants.SRC, sum.slot(), result),
                        new Operand(DnnlConstants.DST, 2,
                                builder.describe(new long[]{outputs, channels}, dtype, new long[]{channels, 1})));
            }
            return true;
        });
    }
}

package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Convolution;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a convolution is, apart from the sizes of its images: the computation, the weights, and images with a
 * representative number of pixels, whose dimensions are nested in memory as before. As for products
 * ({@link ProductStructure}), whether the library has a fast convolution is decided once for each structure.
 *
 * @param convolution
 *            the convolution
 * @param operands
 *            images, weights, the operands of the bias and of post-ops, and the result
 */
record ConvolutionStructure(Convolution convolution, List<TensorSpec> operands) {
    /** Smaller lengths are not rounded. */
    private static final long EXACT = 16;
    private static final long MOST_IMAGES = 2;

    /** Returns the structure; null if none stands for these operands. */
    static @Nullable ConvolutionStructure of(Convolution convolution, List<TensorSpec> operands) {
        for (TensorSpec spec : operands) {
            if (spec.dtype() != DType.FLOAT32 || spec.layout() instanceof Layout.Opaque || spec.shape().size() == 0) {
                return null;
            }
        }
        TensorSpec x = operands.get(0);
        TensorSpec w = operands.get(1);
        TensorSpec y = operands.getLast();
        long[] images = x.shape().dims();
        long[] results = y.shape().dims();
        images[0] = Math.min(images[0], MOST_IMAGES);
        results[0] = images[0];
        for (int i = 2; i < images.length; i++) {
            images[i] = images[i] <= EXACT ? images[i] : Long.highestOneBit(2 * images[i] - 1);
            results[i] = convolution.window().places(i - 2, images[i], w.shape().dim(i));
        }
        List<TensorSpec> represented = new ArrayList<>(List.of(ProductStructure.nested(x, images), w));
        for (TensorSpec spec : operands.subList(2, operands.size() - 1)) {
            boolean whole = Arrays.equals(spec.shape().dims(), y.shape().dims());
            represented.add(whole ? ProductStructure.nested(spec, results) : spec);
        }
        represented.add(ProductStructure.nested(y, results));
        return new ConvolutionStructure(convolution, List.copyOf(represented));
    }
}

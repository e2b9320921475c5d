package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a convolution's weights. Inputs x [n, c, spatial...], dy [n, o, spatial'...]; outputs dw [o,
 * c/groups, kernel...] and, with bias, db [o]. The kernel's dimensions are parameters.
 *
 * @param window
 *            how the kernel moves
 * @param groups
 *            how many groups of channels are convolved on their own
 * @param bias
 *            whether the gradient of the bias is wanted too
 * @param kernel
 *            the spatial dimensions of dw
 */
public record ConvolutionGradWeights(Window window, int groups, boolean bias,
        List<Long> kernel) implements Computation {
    /** Copies the list. */
    public ConvolutionGradWeights {
        kernel = List.copyOf(kernel);
    }

    @Override
    public String operation() {
        return "convolution_grad_weights";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec x = in.get(0, "x");
        TensorSpec dy = in.get(1, "dy");
        in.floating(x, "x");
        in.sameType(x, dy, "x and dy");
        in.images(x.shape(), window.rank(), "x");
        in.images(dy.shape(), window.rank(), "dy");
        in.require(kernel.size() == window.rank(), "dw must be given %d spatial dimensions, but has %s", window.rank(),
                kernel);
        in.require(x.shape().dim(0) == dy.shape().dim(0), "x and dy must have as many images, but have %d and %d",
                x.shape().dim(0),
                dy.shape().dim(0));
        in.require(groups >= 1 && x.shape().dim(1) % groups == 0,
                "x's channels (%d) must be a multiple of the %d groups", x.shape().dim(1),
                groups);
        long[] dims = new long[kernel.size() + 2];
        dims[0] = dy.shape().dim(1);
        dims[1] = x.shape().dim(1) / groups;
        for (int i = 0; i < kernel.size(); i++) {
            in.require(kernel.get(i) > 0,
                    "the kernel must have one element or more in each spatial dimension, but is %s", kernel);
            dims[2 + i] = kernel.get(i);
            in.require(window.places(i, x.shape().dim(2 + i), kernel.get(i)) == dy.shape().dim(2 + i),
                    "a kernel of %s does not give the spatial dimensions of dy", kernel);
        }
        Shape w = Shape.of(dims);
        Convolution.check(in, x.shape(), w, window, groups);
        TensorSpec dw = TensorSpec.of(x.dtype(), w);
        return bias ? new TensorSpec[]{dw, TensorSpec.of(x.dtype(), dims[0])} : new TensorSpec[]{dw};
    }
}

package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a convolution's input; also the transposed convolution. Inputs dy [n, o, spatial'...], weights [o,
 * c/groups, kernel...]; output dx [n, c, spatial...], whose spatial dimensions are parameters, since several give the
 * same dy.
 *
 * @param window
 *            how the kernel moves
 * @param groups
 *            how many groups of channels are convolved on their own
 * @param spatial
 *            the spatial dimensions of dx
 */
public record ConvolutionGradInput(Window window, int groups, List<Long> spatial) implements Computation {
    /** Copies the list. */
    public ConvolutionGradInput {
        spatial = List.copyOf(spatial);
    }

    @Override
    public String operation() {
        return "convolution_grad_input";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec dy = in.get(0, "dy");
        TensorSpec w = in.get(1, "weights");
        in.floating(dy, "dy");
        in.sameType(dy, w, "dy and weights");
        in.images(dy.shape(), window.rank(), "dy");
        in.images(w.shape(), window.rank(), "the weights");
        in.require(spatial.size() == window.rank(), "dx must be given %d spatial dimensions, but has %s", window.rank(),
                spatial);
        long[] dims = dy.shape().dims();
        dims[1] = w.shape().dim(1) * groups;
        for (int i = 0; i < spatial.size(); i++) {
            dims[2 + i] = spatial.get(i);
        }
        Shape x = Shape.of(dims);
        Convolution.check(in, x, w.shape(), window, groups);
        in.require(dy.shape().dim(1) == w.shape().dim(0),
                "dy must have as many channels as the weights have outputs, but has %d and %d",
                dy.shape().dim(1), w.shape().dim(0));
        for (int i = 0; i < spatial.size(); i++) {
            in.require(window.places(i, x.dim(2 + i), w.shape().dim(2 + i)) == dy.shape().dim(2 + i),
                    "an input of %s does not give the spatial dimensions of dy", spatial);
        }
        return new TensorSpec[]{TensorSpec.of(dy.dtype(), x)};
    }

    /** By images. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return List.of(Split.of(0, Split.WHOLE, 0));
    }
}

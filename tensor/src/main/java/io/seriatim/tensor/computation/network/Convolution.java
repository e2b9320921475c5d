package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Inputs x [n, c, spatial...], weights [o, c/groups, kernel...], bias [o] (left out unless given), one more for each
 * {@link PostOp.Combine}; output [n, o, spatial'...].
 *
 * @param window
 *            how the kernel moves
 * @param groups
 *            how many groups of channels are convolved on their own
 * @param bias
 *            whether there is a bias
 * @param postOps
 *            the functions applied to each element of the result, in order
 */
public record Convolution(Window window, int groups, boolean bias, List<PostOp> postOps) implements Computation {
    /** Copies the list. */
    public Convolution {
        postOps = List.copyOf(postOps);
    }

    @Override
    public String operation() {
        return "convolution";
    }

    int inputs() {
        return 2 + (bias ? 1 : 0) + (int) postOps.stream().filter(PostOp.Combine.class::isInstance).count();
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, inputs(), inputs());
        TensorSpec x = in.get(0, "x");
        TensorSpec w = in.get(1, "weights");
        in.floating(x, "x");
        in.sameType(x, w, "x and weights");
        check(in, x.shape(), w.shape(), window, groups);
        long[] dims = x.shape().dims();
        dims[1] = w.shape().dim(0);
        for (int i = 0; i < window.rank(); i++) {
            dims[2 + i] = window.places(i, x.shape().dim(2 + i), w.shape().dim(2 + i));
            in.require(dims[2 + i] > 0, "the kernel does not fit into the padded spatial dimension %d", i);
        }
        Shape out = Shape.of(dims);
        if (bias) {
            TensorSpec b = in.get(2, "bias");
            in.floating(b, "bias");
            in.require(b.shape().equals(Shape.of(out.dim(1))), "bias must be [%d], but is %s", out.dim(1), b.shape());
        }
        int first = bias ? 3 : 2;
        for (int i = first; i < inputs(); i++) {
            String name = "of post-op number " + (i - first);
            in.addend(in.get(i, name), x.dtype(), out, "the input " + name);
        }
        return new TensorSpec[]{TensorSpec.of(x.dtype(), out)};
    }

    static void check(Operands in, Shape x, Shape w, Window window, int groups) {
        in.images(x, window.rank(), "x");
        in.images(w, window.rank(), "the weights");
        for (int i = 2; i < w.rank(); i++) {
            in.require(w.dim(i) > 0,
                    "the kernel must have one element or more in each spatial dimension, but the weights are %s", w);
        }
        in.require(groups >= 1 && x.dim(1) == w.dim(1) * groups && w.dim(0) % groups == 0,
                "with %d groups, x's channels (%d) must be the groups times dimension 1 of the weights (%d), and "
                        + "dimension 0 of the weights (%d) a multiple of the groups",
                groups,
                x.dim(1), w.dim(1), w.dim(0));
    }

    /** By images. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        if (out == null) {
            return List.of();
        }
        int[] axes = new int[arguments.length];
        axes[1] = Split.WHOLE;
        for (int i = 2; i < arguments.length - 1; i++) {
            TensorSpec other = arguments[i];
            axes[i] = other == null || (i == 2 && bias) ? Split.WHOLE : Split.broadcast(other.shape(), out.shape(), 0);
        }
        return List.of(Split.of(axes));
    }
}

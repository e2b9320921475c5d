package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
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
    /** The number of channels that kernels compute together: the floats of a cache line. */
    private static final int CHANNELS = 16;

    /** Copies the list. */
    public Convolution {
        postOps = List.copyOf(postOps);
    }

    /**
     * Weights as libraries expect them when they pack them: with the groups first if there are several.
     *
     * @param weights
     *            [o, c/groups, kernel...]
     * @param groups
     *            how many groups there are
     * @return a view of the same memory, [groups,] o/groups, c/groups, kernel...
     */
    public static TensorSpec packedWeights(TensorSpec weights, int groups) {
        if (groups == 1) {
            return weights;
        }
        long[] own = weights.shape().dims();
        long[] ownStrides = weights.strides();
        long[] dims = new long[own.length + 1];
        long[] strides = new long[dims.length];
        System.arraycopy(own, 0, dims, 1, own.length);
        System.arraycopy(ownStrides, 0, strides, 1, own.length);
        dims[0] = groups;
        dims[1] = own[0] / groups;
        strides[0] = dims[1] * ownStrides[0];
        return new TensorSpec(weights.dtype(), Shape.of(dims), Layout.strided(strides));
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

    /** By images, by rows, or by channels of the result. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec weights = arguments[1];
        TensorSpec out = arguments[arguments.length - 1];
        if (weights == null || out == null) {
            return List.of();
        }
        Split images = new Split(axes(0, out.shape(), arguments), 1);
        List<Split> splits = new ArrayList<>(List.of(images));
        int rows = window.rows(out.shape());
        if (rows != Split.WHOLE) {
            splits.add(window.rows(axes(rows, out.shape(), arguments), weights.shape().dim(rows), out.shape()));
        }
        splits.add(channels(out.shape(), arguments));
        return splits;
    }

    /** Each part has the weights of its channels and, with groups, the images of its groups. */
    private Split channels(Shape result, @Nullable TensorSpec... arguments) {
        List<Integer> axes = axes(1, result, arguments);
        axes.set(0, groups == 1 ? Split.WHOLE : 1);
        axes.set(1, 0);
        if (bias) {
            axes.set(2, 0);
        }
        long each = groups == 1 ? 1 : Math.max(1, new Split(axes, 1).length(arguments) / groups);
        int unit = (int) (each * Math.ceilDiv(CHANNELS, each));
        return new Split(axes, unit, null, unit);
    }

    private List<Integer> axes(int axis, Shape result, @Nullable TensorSpec... arguments) {
        List<Integer> axes = new ArrayList<>(List.of(axis, Split.WHOLE));
        for (int i = 2; i < arguments.length; i++) {
            TensorSpec other = arguments[i];
            axes.add(other == null || (i == 2 && bias) ? Split.WHOLE : Split.broadcast(other.shape(), result, axis));
        }
        return axes;
    }

    @Override
    public Computation part(Split split, Split.Range part, @Nullable TensorSpec... arguments) {
        TensorSpec x = arguments[0];
        if (split.unit() > 1 && groups > 1) {
            long each = split.length(arguments) / groups;
            return new Convolution(window, (int) ((part.to() - part.from()) / each), bias, postOps);
        }
        return split.window() == null || x == null
                ? this
                : new Convolution(window.part(split, part, x.shape()), groups, bias, postOps);
    }
}

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
 * The gradient of a convolution's input; also the transposed convolution. Inputs dy [n, o, spatial'...], weights [o,
 * c/groups, kernel...], one more for each {@link PostOp.Combine}; output dx [n, c, spatial...], whose spatial
 * dimensions are parameters, since several give the same dy.
 *
 * @param window
 *            how the kernel moves
 * @param groups
 *            how many groups of channels are convolved on their own
 * @param spatial
 *            the spatial dimensions of dx
 * @param postOps
 *            the functions applied to each element of the result, in order
 */
public record ConvolutionGradInput(Window window, int groups, List<Long> spatial, List<PostOp> postOps)
        implements
            Computation {
    /** Copies the lists. */
    public ConvolutionGradInput {
        spatial = List.copyOf(spatial);
        postOps = List.copyOf(postOps);
    }

    /**
     * Without post-ops.
     *
     * @param window
     *            how the kernel moves
     * @param groups
     *            how many groups of channels are convolved on their own
     * @param spatial
     *            the spatial dimensions of dx
     */
    public ConvolutionGradInput(Window window, int groups, List<Long> spatial) {
        this(window, groups, spatial, List.of());
    }

    /**
     * Weights as those of a transposed convolution, as libraries expect them when they pack them: with the groups first
     * if there are several, then the channels of the result.
     *
     * @param weights
     *            [o, c/groups, kernel...]
     * @param groups
     *            how many groups there are
     * @return a view of the same memory, [groups,] c/groups, o/groups, kernel...
     */
    public static TensorSpec packedWeights(TensorSpec weights, int groups) {
        TensorSpec grouped = Convolution.packedWeights(weights, groups);
        long[] dims = grouped.shape().dims();
        long[] strides = grouped.strides();
        int outputs = groups > 1 ? 1 : 0;
        swap(dims, outputs);
        swap(strides, outputs);
        return new TensorSpec(weights.dtype(), Shape.of(dims), Layout.strided(strides));
    }

    private static void swap(long[] numbers, int at) {
        long first = numbers[at];
        numbers[at] = numbers[at + 1];
        numbers[at + 1] = first;
    }

    @Override
    public String operation() {
        return "convolution_grad_input";
    }

    private int inputs() {
        return 2 + (int) postOps.stream().filter(PostOp.Combine.class::isInstance).count();
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, inputs(), inputs());
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
        for (int i = 2; i < inputs(); i++) {
            String name = "of post-op number " + (i - 2);
            in.addend(in.get(i, name), dy.dtype(), x, "the input " + name);
        }
        return new TensorSpec[]{TensorSpec.of(dy.dtype(), x)};
    }

    /** By images, or by rows. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec weights = arguments[1];
        TensorSpec out = arguments[arguments.length - 1];
        if (weights == null || out == null) {
            return List.of();
        }
        Split images = new Split(axes(0, out.shape(), arguments), 1);
        int rows = window.rows(out.shape());
        return rows == Split.WHOLE
                ? List.of(images)
                : List.of(images, window.transposedRows(axes(rows, out.shape(), arguments), weights.shape().dim(rows),
                        out.shape()));
    }

    private static List<Integer> axes(int axis, Shape result, @Nullable TensorSpec... arguments) {
        List<Integer> axes = new ArrayList<>(List.of(axis, Split.WHOLE));
        for (int i = 2; i < arguments.length; i++) {
            TensorSpec other = arguments[i];
            axes.add(other == null ? Split.WHOLE : Split.broadcast(other.shape(), result, axis));
        }
        return axes;
    }

    @Override
    public Computation part(Split split, Split.Range part, @Nullable TensorSpec... arguments) {
        TensorSpec dy = arguments[0];
        TensorSpec weights = arguments[1];
        if (split.window() == null || dy == null || weights == null) {
            return this;
        }
        int axis = split.axes().getFirst();
        List<Long> places = new ArrayList<>(spatial);
        places.set(axis - 2, part.to() - part.from());
        return new ConvolutionGradInput(
                window.transposedPart(split, part, dy.shape().dim(axis), weights.shape().dim(axis)), groups, places,
                postOps);
    }
}

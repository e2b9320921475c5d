package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Pooling over windows. Input x [n, c, spatial...]; output y [n, c, places...]. A last window that is cut off is had by
 * padding at the end. An average without padding divides by the elements of x that the window covers, one with padding
 * by those of x and of the padding.
 *
 * @param kind
 *            the reduction of a window
 * @param kernel
 *            the window's size in each spatial dimension
 * @param window
 *            how it moves
 */
public record Pooling(Kind kind, List<Long> kernel, Window window) implements Computation {
    /** The reductions of a window. */
    public enum Kind {
        /** The largest element; NaN if there is one. */
        MAX,
        /** The mean of the elements of x. */
        AVERAGE,
        /** The mean of the elements of x and zeros of the padding. */
        AVERAGE_WITH_PADDING
    }

    /** Copies the list. */
    public Pooling {
        kernel = List.copyOf(kernel);
    }

    @Override
    public String operation() {
        return "pooling";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        in.images(x.shape(), window.rank(), "x");
        in.require(kernel.size() == window.rank(), "the kernel must have %d dimensions, as the window has, but is %s",
                window.rank(),
                kernel);
        long[] dims = x.shape().dims();
        for (int i = 0; i < window.rank(); i++) {
            in.require(kernel.get(i) > 0, "the kernel must have one element or more in each dimension, but is %s",
                    kernel);
            in.require(window.padBegin(i) < kernel.get(i) && window.dilation(i) == 1,
                    "padding must be less than the kernel, and windows are not dilated, but they are %s", window);
            dims[2 + i] = window.places(i, x.shape().dim(2 + i), kernel.get(i));
            in.require(dims[2 + i] > 0, "the kernel does not fit into the padded spatial dimension %d", i);
            in.require((dims[2 + i] - 1) * window.stride(i) < x.shape().dim(2 + i) + window.padBegin(i),
                    "the last window of spatial dimension %d lies in the padding", i);
        }
        return new TensorSpec[]{TensorSpec.of(x.dtype(), dims)};
    }

    /** By images, by channels, or by rows. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        List<Split> splits = new ArrayList<>(Split.imagesOrChannels(arguments.length));
        TensorSpec out = arguments[arguments.length - 1];
        int rows = out == null ? Split.WHOLE : window.rows(out.shape());
        if (out != null && rows != Split.WHOLE) {
            splits.add(window.rows(List.of(rows, rows), kernel.get(rows - 2), out.shape()));
        }
        return splits;
    }

    @Override
    public Computation part(Split split, Split.Range part, @Nullable TensorSpec... arguments) {
        TensorSpec x = arguments[0];
        return split.window() == null || x == null
                ? this
                : new Pooling(kind, kernel, window.part(split, part, x.shape()));
    }
}

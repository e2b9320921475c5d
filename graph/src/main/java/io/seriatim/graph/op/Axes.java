package io.seriatim.graph.op;

import io.seriatim.tensor.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Axes that are reduced.
 *
 * @param reduced
 *            for each dimension, whether it is; a shape without dimensions has none
 * @param known
 *            false if a tensor says which, and only their number is known
 */
@SuppressWarnings("ArrayRecordComponent")
record Axes(boolean[] reduced, boolean known) {
    /** None given means all of them; a shape without dimensions may be said to have the axis 0. */
    static Axes of(Inference inference, String slot, long[] axes, boolean all) {
        int rank = inference.dims(slot).length;
        boolean[] reduced = new boolean[rank];
        for (long axis : axes) {
            int at = inference.axis(slot, axis);
            if (rank > 0) {
                reduced[at] = true;
            }
        }
        if (all || axes.length == 0) {
            Arrays.fill(reduced, true);
        }
        return new Axes(reduced, true);
    }

    /** As {@link #of}, of shapes that inference has checked. */
    static List<Integer> of(Shape shape, long[] axes, boolean all) {
        return all || shape.rank() == 0
                ? List.of()
                : Arrays.stream(axes).mapToObj(axis -> shape.axis((int) axis)).distinct().sorted().toList();
    }

    /** Some axes, which ones being unknown. */
    static Axes unknown(int rank, long count) {
        boolean[] reduced = new boolean[rank];
        Arrays.fill(reduced, 0, (int) Math.min(rank, count), true);
        return new Axes(reduced, false);
    }

    long[] apply(long[] dims, boolean keep) {
        return IntStream.range(0, dims.length).filter(i -> keep || !reduced[i]).mapToLong(i -> known ? reduced[i] ? 1 : dims[i] : -1)
                .toArray();
    }

    /** The shape with the reduced axes of length 1. */
    static Shape kept(Shape shape, List<Integer> axes) {
        long[] dims = shape.dims();
        for (int i = 0; i < dims.length; i++) {
            dims[i] = axes.isEmpty() || axes.contains(i) ? 1 : dims[i];
        }
        return Shape.of(dims);
    }

    /** How many elements one result comes from. */
    static long count(Shape shape, List<Integer> axes) {
        return axes.isEmpty() ? shape.size() : Shape.of(axes.stream().mapToLong(shape::dim).toArray()).size();
    }

    /** Axes that a tensor, or one for each, may say; else the attribute. */
    static long @Nullable [] said(Inference inference, String attribute) {
        if (inference.has("AxisTensor")) {
            return inference.values("AxisTensor");
        }
        if (inference.has("AxisTensorList")) {
            // In the list, an unknown value cannot be told from the last axis.
            return inference.values("AxisTensorList") == null ? null : inference.listed("AxisTensorList");
        }
        return inference.attrs().getLongs(attribute);
    }
}

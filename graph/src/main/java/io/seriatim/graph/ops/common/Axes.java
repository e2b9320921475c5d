package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Inference;
import io.seriatim.tensor.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Axes that are reduced.
 *
 * @param reduced
 *            for each dimension, whether it is; a shape without dimensions has none
 */
@SuppressWarnings("ArrayRecordComponent")
public record Axes(boolean[] reduced) {
    /** None given means all of them; a shape without dimensions may be said to have the axis 0. */
    public static Axes of(Inference inference, String slot, long[] axes, boolean all) {
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
        return new Axes(reduced);
    }

    /** As {@link #of}, of shapes that inference has checked. */
    public static List<Integer> of(Shape shape, long[] axes, boolean all) {
        return all || shape.rank() == 0
                ? List.of()
                : Arrays.stream(axes).mapToObj(axis -> shape.axis((int) axis)).distinct().sorted().toList();
    }

    public long[] apply(long[] dims, boolean keep) {
        return IntStream.range(0, dims.length).filter(i -> keep || !reduced[i]).mapToLong(i -> reduced[i] ? 1 : dims[i])
                .toArray();
    }

    /** The shape with the reduced axes of length 1. */
    public static Shape kept(Shape shape, List<Integer> axes) {
        long[] dims = shape.dims();
        for (int i = 0; i < dims.length; i++) {
            dims[i] = axes.isEmpty() || axes.contains(i) ? 1 : dims[i];
        }
        return Shape.of(dims);
    }

    /** How many elements one result comes from. */
    public static long count(Shape shape, List<Integer> axes) {
        return axes.isEmpty() ? shape.size() : Shape.of(axes.stream().mapToLong(shape::dim).toArray()).size();
    }
}

package io.seriatim.onnx.operators;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Index tuples that are the places of a slice, as those of an exported {@code x[:, 1:] = y}. */
final class IndexedSlice {
    /** For each axis the first index, the distance of two, and how many there are. */
    private final long[] starts;
    private final long[] steps;
    private final long[] counts;
    /** Whether the tuples have no dimension for the axis. */
    private final boolean[] single;

    private IndexedSlice(int depth) {
        starts = new long[depth];
        steps = new long[depth];
        counts = new long[depth];
        single = new boolean[depth];
    }

    /**
     * Recognises a slice.
     *
     * @param tuples
     *            whole numbers [..., k]
     * @return null if they are not the places of a slice, in the order of its axes
     */
    static @Nullable IndexedSlice of(Tensor tuples) {
        Shape shape = tuples.shape();
        int places = shape.rank() - 1;
        int depth = Math.toIntExact(shape.dim(-1));
        if (shape.size() == 0 || places > depth) {
            return null;
        }
        long[] all = tuples.toLongArray();
        if (Arrays.stream(all).anyMatch(index -> index < 0)) {
            // Also where steps overflow: sums of numbers from 0 become negative first.
            return null;
        }
        IndexedSlice slice = new IndexedSlice(depth);
        long[] memory = shape.strides();
        int place = 0;
        for (int axis = 0; axis < depth; axis++) {
            slice.starts[axis] = all[axis];
            slice.steps[axis] = 1;
            slice.counts[axis] = 1;
            int ahead = depth - axis;
            boolean grows = place < places && shape.dim(place) > 1
                    && all[Math.toIntExact(axis + memory[place])] != all[axis];
            // Axes of one index may have a dimension of 1, or none.
            if (grows || (place < places && shape.dim(place) == 1 && places - place == ahead)) {
                slice.counts[axis] = shape.dim(place);
                if (grows) {
                    slice.steps[axis] = all[Math.toIntExact(axis + memory[place])] - all[axis];
                }
                place++;
            } else {
                slice.single[axis] = true;
            }
        }
        return place == places && Arrays.stream(slice.steps).allMatch(step -> step > 0)
                && slice.is(all, shape) ? slice : null;
    }

    /** Returns whether tuples are the places of this slice. */
    private boolean is(long[] all, Shape shape) {
        int depth = starts.length;
        long[] at = new long[depth];
        for (int i = 0; i < all.length; i += depth) {
            for (int axis = 0; axis < depth; axis++) {
                if (all[i + axis] != starts[axis] + at[axis] * steps[axis]) {
                    return false;
                }
            }
            for (int axis = depth - 1; axis >= 0 && ++at[axis] == counts[axis]; axis--) {
                at[axis] = 0;
            }
        }
        return Arrays.stream(counts).reduce(1, (a, b) -> a * b) == shape.size() / depth;
    }

    /** Returns whether all indexes are known to be within a tensor; its sizes may be −1. */
    boolean isWithin(long[] dims) {
        return IntStream.range(0, starts.length)
                .allMatch(axis -> starts[axis] >= 0 && dims[axis] > starts[axis] + (counts[axis] - 1) * steps[axis]);
    }

    int[] axes() {
        return IntStream.range(0, starts.length).toArray();
    }

    long[] starts() {
        return starts;
    }

    long[] ends() {
        return IntStream.range(0, starts.length).mapToLong(axis -> starts[axis] + (counts[axis] - 1) * steps[axis] + 1)
                .toArray();
    }

    long[] steps() {
        return steps;
    }

    /** Returns the axes that the updates lack. */
    int[] single() {
        return IntStream.range(0, single.length).filter(axis -> single[axis]).toArray();
    }
}

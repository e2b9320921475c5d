package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.kernel.Split;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * How a window moves over the spatial dimensions of a convolution or pooling; each array has one entry a dimension.
 * Compared by content.
 */
public final class Window {
    /** With fewer pixels, a part would mostly read weights. */
    private static final long FEWEST_PIXELS = 16;

    private final int[] strides;
    private final int[] padBegin;
    private final int[] padEnd;
    private final int[] dilations;

    private Window(int[] strides, int[] padBegin, int[] padEnd, int[] dilations) {
        this.strides = strides;
        this.padBegin = padBegin;
        this.padEnd = padEnd;
        this.dilations = dilations;
        for (int i = 0; i < strides.length; i++) {
            if (strides[i] < 1 || dilations[i] < 1 || padBegin[i] < 0 || padEnd[i] < 0) {
                throw new IllegalArgumentException(
                        "Strides and dilations must be 1 or more and padding 0 or more, but are "
                                + Arrays.toString(strides) + ", "
                                + Arrays.toString(dilations) + ", " + Arrays.toString(padBegin) + " and "
                                + Arrays.toString(padEnd));
            }
        }
    }

    /**
     * A window with a value for each dimension.
     *
     * @param strides
     *            from one place to the next, from 1
     * @param padBegin
     *            elements added before, from 0
     * @param padEnd
     *            elements added after, from 0
     * @param dilations
     *            the distance of neighbours in the kernel, from 1
     * @return the window
     */
    public static Window of(int[] strides, int[] padBegin, int[] padEnd, int[] dilations) {
        if (padBegin.length != strides.length || padEnd.length != strides.length
                || dilations.length != strides.length) {
            throw new IllegalArgumentException(
                    "Strides, padding and dilations need one entry for each spatial dimension");
        }
        return new Window(strides.clone(), padBegin.clone(), padEnd.clone(), dilations.clone());
    }

    /**
     * The same in all dimensions, padded alike at both ends, not dilated.
     *
     * @param rank
     *            how many dimensions
     * @param stride
     *            from one place to the next, from 1
     * @param pad
     *            elements added at each end, from 0
     * @return the window
     */
    public static Window of(int rank, int stride, int pad) {
        int[] strides = new int[rank];
        int[] pads = new int[rank];
        int[] ones = new int[rank];
        Arrays.fill(strides, stride);
        Arrays.fill(pads, pad);
        Arrays.fill(ones, 1);
        return new Window(strides, pads, pads, ones);
    }

    /**
     * How many spatial dimensions.
     *
     * @return from 1
     */
    public int rank() {
        return strides.length;
    }

    /**
     * From one place to the next.
     *
     * @param i
     *            the dimension
     * @return from 1
     */
    public int stride(int i) {
        return strides[i];
    }

    /**
     * Elements added before.
     *
     * @param i
     *            the dimension
     * @return from 0
     */
    public int padBegin(int i) {
        return padBegin[i];
    }

    /**
     * Elements added after.
     *
     * @param i
     *            the dimension
     * @return from 0
     */
    public int padEnd(int i) {
        return padEnd[i];
    }

    /**
     * The distance of neighbours in the kernel.
     *
     * @param i
     *            the dimension
     * @return from 1
     */
    public int dilation(int i) {
        return dilations[i];
    }

    /**
     * How many places a kernel has in a dimension.
     *
     * @param i
     *            the dimension
     * @param length
     *            of the input
     * @param kernel
     *            of the kernel
     * @return 0 or less if it does not fit
     */
    public long places(int i, long length, long kernel) {
        return Math.floorDiv(length + padBegin[i] + padEnd[i] - extent(i, kernel), strides[i]) + 1;
    }

    /** How many places the kernel covers, those between its elements included. */
    private long extent(int i, long kernel) {
        return dilations[i] * (kernel - 1) + 1;
    }

    /**
     * The axis along which a result is cut by rows: its outermost spatial one that is longer than 1.
     *
     * @param result
     *            the result
     * @return {@link Split#WHOLE} if there is none
     */
    int rows(Shape result) {
        for (int axis = 2; axis < result.rank(); axis++) {
            if (result.dim(axis) > 1) {
                return axis;
            }
        }
        return Split.WHOLE;
    }

    /**
     * The split of a computation by rows of the result.
     *
     * @param axes
     *            for each argument: {@link #rows(Shape)}, or {@link Split#WHOLE}; the first one is x
     * @param kernel
     *            the length of the kernel along that axis
     * @param result
     *            the result
     * @return the split
     */
    Split rows(List<Integer> axes, long kernel, Shape result) {
        int axis = axes.getFirst();
        long pixels = result.slice(axis + 1, result.rank()).size();
        return new Split(axes, (int) Math.ceilDiv(FEWEST_PIXELS, Math.max(1, pixels)),
                new Split.Under(strides[axis - 2], padBegin[axis - 2], extent(axis - 2, kernel)));
    }

    /**
     * The window of a part of {@link #rows(List, long, Shape)}. Its padding is what the part's windows still cover.
     *
     * @param split
     *            the split
     * @param part
     *            the places of the result
     * @param x
     *            the whole first argument
     * @return the window; this one if the split is another
     */
    Window part(Split split, Split.Range part, Shape x) {
        Split.Under under = split.window();
        if (under == null) {
            return this;
        }
        int axis = split.axes().getFirst();
        int[] begin = padBegin.clone();
        int[] end = padEnd.clone();
        begin[axis - 2] = (int) Math.max(0, -under.first(part.from()));
        end[axis - 2] = (int) Math.max(0, under.end(part.to() - 1) - x.dim(axis));
        return new Window(strides, begin, end, dilations);
    }

    /**
     * The split of a transposed convolution by rows of the result.
     *
     * @param axes
     *            for each argument: {@link #rows(Shape)}, or {@link Split#WHOLE}; the first one is what the kernel is
     *            spread from
     * @param kernel
     *            the length of the kernel along that axis
     * @param result
     *            the result
     * @return the split
     */
    Split transposedRows(List<Integer> axes, long kernel, Shape result) {
        int axis = axes.getFirst();
        long pixels = result.slice(axis + 1, result.rank()).size();
        int least = (int) Math.ceilDiv(FEWEST_PIXELS, Math.max(1, pixels));
        return new Split(axes, Math.max(least, strides[axis - 2]),
                new Split.Under(strides[axis - 2], padBegin[axis - 2], extent(axis - 2, kernel), true));
    }

    /**
     * The window of a part of {@link #transposedRows(List, long, Shape)}. Its padding is what is spread beyond it.
     *
     * @param split
     *            the split
     * @param part
     *            the places of the result
     * @param length
     *            of the whole first argument along the axis
     * @param kernel
     *            the length of the kernel along the axis
     * @return the window
     */
    Window transposedPart(Split split, Split.Range part, long length, long kernel) {
        int i = split.axes().getFirst() - 2;
        Split.Under under = Objects.requireNonNull(split.window());
        long from = Math.max(0, under.first(part.from()));
        long to = Math.min(length, under.end(part.to() - 1));
        long pad = part.from() + padBegin[i] - strides[i] * from;
        int[] begin = padBegin.clone();
        int[] end = padEnd.clone();
        begin[i] = Math.toIntExact(pad);
        end[i] = Math.toIntExact(Math.max(0,
                strides[i] * (to - from - 1) + extent(i, kernel) - (part.to() - part.from()) - pad));
        return new Window(strides, begin, end, dilations);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Window w && Arrays.equals(strides, w.strides) && Arrays.equals(padBegin, w.padBegin)
                && Arrays.equals(padEnd, w.padEnd)
                && Arrays.equals(dilations, w.dilations);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(strides) * 31 + Arrays.hashCode(padBegin);
    }

    @Override
    public String toString() {
        return "strides " + Arrays.toString(strides) + ", padding " + Arrays.toString(padBegin) + " and "
                + Arrays.toString(padEnd)
                + ", dilations " + Arrays.toString(dilations);
    }
}

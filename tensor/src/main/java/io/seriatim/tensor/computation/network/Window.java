package io.seriatim.tensor.computation.network;

import java.util.Arrays;

/**
 * How a window moves over the spatial dimensions of a convolution or pooling; each array has one entry a dimension.
 * Compared by content.
 */
public final class Window {
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
        return Math.floorDiv(length + padBegin[i] + padEnd[i] - (dilations[i] * (kernel - 1) + 1), strides[i]) + 1;
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

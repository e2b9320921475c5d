package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.computation.network.Window;

/** The movement of a window over three spatial dimensions; dimensions are added in front up to three. */
@SuppressWarnings("ArrayRecordComponent")
public record Steps(int[] strides, int[] begin, int[] dilations) {
    private static final int SPATIAL = 3;

    public static Steps of(Window window) {
        int added = SPATIAL - window.rank();
        int[] strides = {1, 1, 1};
        int[] begin = {0, 0, 0};
        int[] dilations = {1, 1, 1};
        for (int i = 0; i < window.rank(); i++) {
            strides[added + i] = window.stride(i);
            begin[added + i] = window.padBegin(i);
            dilations[added + i] = window.dilation(i);
        }
        return new Steps(strides, begin, dilations);
    }

    /**
     * The element of the input under an element of the kernel at an output position; outside of the input it is
     * padding.
     */
    public int source(int dimension, int place, int tap) {
        return place * strides[dimension] - begin[dimension] + tap * dilations[dimension];
    }

    /** The first place of a row whose tap is not left of the input. */
    public int firstPlace(int tap) {
        int before = begin[2] - tap * dilations[2];
        return before <= 0 ? 0 : (before + strides[2] - 1) / strides[2];
    }

    /** After the last place of a row whose tap is not right of the input. */
    public int endPlace(int tap, int width, int places) {
        int last = width - 1 + begin[2] - tap * dilations[2];
        return last < 0 ? 0 : Math.min(places, last / strides[2] + 1);
    }
}

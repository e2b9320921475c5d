package io.seriatim.tensor.kernel.portable.function;

/**
 * Extremes of so many elements from every place on. Those of 2<sup>i + 1</sup> elements are those of two of
 * 2<sup>i</sup>, at all places at once: loops over one short window do not become vector instructions.
 */
public final class SlidingExtremes {
    private SlidingExtremes() {
    }

    /**
     * Replaces values by extremes. The last places, which have fewer elements, get anything.
     *
     * @param greatest
     *            whether they are the greatest ones, not the least
     * @param values
     *            are replaced
     * @param shifted
     *            another array that is as long; the JIT must see that all arrays of a loop have one index
     * @param size
     *            how many values there are
     * @param kernel
     *            the elements of a window
     * @param step
     *            the distance between two of them
     */
    public static void run(boolean greatest, float[] values, float[] shifted, int size, int kernel, int step) {
        for (int width = 1; width < kernel; width *= 2) {
            int by = Math.min(width, kernel - width) * step;
            int count = size - by;
            System.arraycopy(values, by, shifted, 0, count);
            if (greatest) {
                greatest(values, shifted, count);
            } else {
                least(values, shifted, count);
            }
        }
    }

    private static void greatest(float[] values, float[] shifted, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.max(values[i], shifted[i]);
        }
    }

    private static void least(float[] values, float[] shifted, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.min(values[i], shifted[i]);
        }
    }
}

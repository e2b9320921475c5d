package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.computation.network.RoiAlign;

/**
 * The bins of a region along one axis of an image. Bilinear interpolation is the product of two linear ones, so the
 * mean of a bin's samples is a weighted sum of some neighbouring rows, and within a row of some neighbouring columns.
 */
public final class RoiBins {
    private final int[] first;
    private final int[] start;
    private final double[] weights;
    private final boolean single;
    private boolean empty;
    private int least;
    private int end;

    private RoiBins(int bins, int length, boolean single) {
        this.single = single;
        first = new int[bins];
        start = new int[bins + 1];
        // A bin's elements extend beyond its samples by less than three.
        weights = new double[length + 3 * bins];
    }

    /**
     * The bins between two coordinates of a region.
     *
     * @param single
     *            whether coordinates are float32; each step is then rounded, since a sample that is further outside of
     *            the image than a bound does not count
     */
    public static RoiBins of(RoiAlign align, int bins, double from, double to, int length, boolean single) {
        RoiBins result = new RoiBins(bins, length, single);
        double offset = align.aligned() ? 0.5 : 0;
        double begin = result.rounded(result.rounded(from * align.scale()) - offset);
        double end = result.rounded(result.rounded(to * align.scale()) - offset);
        double extent = result.rounded(end - begin);
        double bin = result.rounded((align.aligned() ? extent : Math.max(extent, 1)) / bins);
        double samples = align.samples() > 0 ? align.samples() : Math.ceil(bin);
        result.empty = !(samples > 0 && samples < Long.MAX_VALUE && Double.isFinite(bin) && Double.isFinite(begin));
        for (int i = 0; i < bins; i++) {
            result.start[i + 1] = result.start[i];
            if (!result.empty) {
                result.add(i, begin, bin, (long) samples, length);
            }
        }
        result.bound();
        return result;
    }

    private double rounded(double number) {
        return single ? (float) number : number;
    }

    /** Where a sample lies, in elements of the image. */
    private double place(int bin, double begin, double size, long sample, long samples) {
        double share = rounded(bin + rounded((sample + 0.5) / samples));
        return rounded(begin + rounded(size * share));
    }

    private static boolean counts(double place, int length) {
        return place >= -1 && place <= length;
    }

    /** Adds the weights of a bin. */
    private void add(int bin, double begin, double size, long samples, int length) {
        double step = size / samples;
        double before = begin + size * bin;
        double one = (-1 - before) / step;
        double other = (length - before) / step;
        // Most samples of a region that extends far beyond the image are outside: they are not visited.
        long from = step == 0 ? 0 : Math.max(0, (long) Math.min(one, other) - 2);
        long to = step == 0 ? samples : Math.min(samples, (long) Math.max(one, other) + 3);
        int low = length;
        int high = -1;
        for (long i = from; i < to; i++) {
            double place = place(bin, begin, size, i, samples);
            if (counts(place, length)) {
                int element = (int) Math.clamp(place, 0, length - 1);
                low = Math.min(low, element);
                high = Math.max(high, Math.min(element + 1, length - 1));
            }
        }
        if (high < 0) {
            return;
        }
        first[bin] = low;
        start[bin + 1] = start[bin] + high - low + 1;
        for (long i = from; i < to; i++) {
            double place = place(bin, begin, size, i, samples);
            if (counts(place, length)) {
                double inside = Math.clamp(place, 0, length - 1);
                int element = (int) inside;
                int at = start[bin] + element - low;
                double fraction = inside - element;
                weights[at] += (1 - fraction) / samples;
                if (fraction > 0) {
                    weights[at + 1] += fraction / samples;
                }
            }
        }
    }

    /** Whether there are no samples, so that their mean is not defined. */
    public boolean isEmpty() {
        return empty;
    }

    /** The number of bins. */
    public int bins() {
        return first.length;
    }

    /** The first element with a weight in a bin. */
    public int first(int bin) {
        return first[bin];
    }

    /** How many elements have a weight in a bin. */
    public int count(int bin) {
        return start[bin + 1] - start[bin];
    }

    public double weight(int bin, int number) {
        return weights[start[bin] + number];
    }

    /** The weighted sum of the elements of a bin, of which element 0 is at an index of the array. */
    public double sum(int bin, double[] array, int at) {
        int from = start[bin];
        int end = start[bin + 1];
        int shift = at + first[bin] - from;
        double sum = 0;
        for (int i = from; i < end; i++) {
            sum += weights[i] * array[shift + i];
        }
        return sum;
    }

    /** The first element with a weight in any bin. */
    public int least() {
        return least;
    }

    /** After the last element with a weight in any bin. */
    public int end() {
        return end;
    }

    /** Finds the first and the last element with a weight. */
    private void bound() {
        least = Integer.MAX_VALUE;
        for (int i = 0; i < first.length; i++) {
            if (count(i) > 0) {
                least = Math.min(least, first[i]);
                end = Math.max(end, first[i] + count(i));
            }
        }
        least = Math.min(least, end);
    }
}

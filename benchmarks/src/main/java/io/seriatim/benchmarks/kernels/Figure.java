package io.seriatim.benchmarks.kernels;

import java.util.Arrays;

/**
 * What a case gave.
 *
 * @param nanos
 *            the median of our times of a call
 * @param speed
 *            ours, in units a nanosecond: giga a second
 * @param limit
 *            the limit's, likewise
 * @param ratio
 *            the median over the rounds of our speed by the limit's in the same round
 */
record Figure(double nanos, double speed, double limit, double ratio) {
    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
}

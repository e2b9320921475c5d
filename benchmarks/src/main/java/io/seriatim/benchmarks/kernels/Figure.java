package io.seriatim.benchmarks.kernels;

import java.util.Arrays;

/**
 * The result of a case.
 *
 * @param nanos
 *            the median time of a call of the kernel
 * @param speed
 *            the speed of the kernel, in units per nanosecond
 * @param limit
 *            the speed of the limit
 * @param ratio
 *            the median over the rounds of the kernel's speed divided by the limit's
 */
record Figure(double nanos, double speed, double limit, double ratio) {
    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
}

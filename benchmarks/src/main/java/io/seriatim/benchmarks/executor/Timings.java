package io.seriatim.benchmarks.executor;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The times of contenders in the same rounds.
 *
 * @param nanos
 *            the time of a call, for each contender and round
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Timings(double[][] nanos) {
    /** Returns the median of a contender's times. */
    double median(int contender) {
        return middle(round -> nanos[contender][round]);
    }

    /** Returns the median of the rounds' ratios. */
    double ratio(int contender, int other) {
        return middle(round -> nanos[contender][round] / nanos[other][round]);
    }

    /** Returns the median of the rounds' differences. */
    double difference(int contender, int other) {
        return middle(round -> nanos[contender][round] - nanos[other][round]);
    }

    private double middle(IntToDoubleFunction ofRound) {
        double[] sorted = IntStream.range(0, nanos[0].length).mapToDouble(ofRound).toArray();
        Arrays.sort(sorted);
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
}

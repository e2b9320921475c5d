package io.seriatim.benchmarks.executor;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What contenders took in the same rounds.
 *
 * @param nanos
 *            for each contender, for each round, the time of a call
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Timings(double[][] nanos) {
    /** The middle of a contender's times. */
    double median(int contender) {
        return middle(round -> nanos[contender][round]);
    }

    /** The middle of the rounds' ratios. */
    double ratio(int contender, int other) {
        return middle(round -> nanos[contender][round] / nanos[other][round]);
    }

    /** The middle of the rounds' differences. */
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

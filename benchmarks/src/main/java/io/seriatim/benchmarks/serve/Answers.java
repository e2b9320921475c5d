package io.seriatim.benchmarks.serve;

import java.util.Arrays;
import java.util.List;

/** The latencies of requests, in nanoseconds. Not thread-safe. */
final class Answers {
    private long[] nanos = new long[1 << 14];
    private int count;

    void add(long duration) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, 2 * count);
        }
        nanos[count++] = duration;
    }

    int count() {
        return count;
    }

    /** Merges and sorts the latencies of several clients. */
    static long[] sorted(List<Answers> all) {
        long[] sorted = new long[all.stream().mapToInt(Answers::count).sum()];
        int filled = 0;
        for (Answers each : all) {
            System.arraycopy(each.nanos, 0, sorted, filled, each.count);
            filled += each.count;
        }
        Arrays.sort(sorted);
        return sorted;
    }

    /** Returns a quantile of the latencies; NaN if there are none. */
    static double quantile(double part, long... sorted) {
        return sorted.length == 0 ? Double.NaN : sorted[Math.min(sorted.length - 1, (int) (sorted.length * part))];
    }
}

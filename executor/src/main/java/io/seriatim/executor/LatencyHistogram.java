package io.seriatim.executor;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts durations in buckets whose widths grow with the durations: each power of two nanoseconds is divided into 64
 * buckets, so that a quantile is at most 1/64 above the exact one. Any number of threads may record.
 *
 * <p>
 * The layout is that of HdrHistogram with two significant digits. Decision 085 says why the library is not used.
 */
final class LatencyHistogram {
    private static final int BITS = 6;
    private static final int BUCKETS = 1 << BITS;

    private final AtomicLongArray counts = new AtomicLongArray(BUCKETS * (Long.SIZE - BITS));
    private final AtomicLong sum = new AtomicLong();
    private final AtomicLong max = new AtomicLong();

    void record(long nanos) {
        long value = Math.max(0, nanos);
        counts.getAndIncrement(bucket(value));
        sum.getAndAdd(value);
        if (value > max.get()) {
            max.accumulateAndGet(value, Math::max);
        }
    }

    private static int bucket(long value) {
        int shift = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(value) - 1 - BITS);
        return (shift << BITS) + (int) (value >> shift);
    }

    /** Returns the greatest value of a bucket. */
    private static long upperBound(int bucket) {
        int shift = Math.max(0, (bucket >> BITS) - 1);
        long first = bucket - ((long) shift << BITS);
        return ((first + 1) << shift) - 1;
    }

    /** Returns what was recorded so far; calls that are in progress may be missing. */
    Predictor.Latency snapshot() {
        long[] all = new long[counts.length()];
        long total = 0;
        for (int i = 0; i < all.length; i++) {
            all[i] = counts.get(i);
            total += all[i];
        }
        long greatest = max.get();
        return new Predictor.Latency(total, Duration.ofNanos(total == 0 ? 0 : sum.get() / total),
                quantile(all, total, 0.5, greatest), quantile(all, total, 0.9, greatest),
                quantile(all, total, 0.99, greatest), quantile(all, total, 0.999, greatest),
                Duration.ofNanos(greatest));
    }

    private static Duration quantile(long[] all, long total, double share, long greatest) {
        long rank = Math.max(1, (long) Math.ceil(share * total));
        long seen = 0;
        for (int i = 0; i < all.length; i++) {
            seen += all[i];
            if (total > 0 && seen >= rank) {
                return Duration.ofNanos(Math.min(upperBound(i), greatest));
            }
        }
        return Duration.ZERO;
    }
}

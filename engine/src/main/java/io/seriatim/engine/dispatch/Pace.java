package io.seriatim.engine.dispatch;

import io.seriatim.engine.sync.Padding;

/**
 * How long the bodies of a lane take, estimated from one in sixteen. Written by the lane's workers without a lock: a
 * lost update does no harm.
 *
 * <p>
 * Handing an operation from one processor to another costs some hundreds of nanoseconds, because what it touches has to
 * follow. Bodies much shorter than that end sooner if one worker runs them all.
 */
public final class Pace extends Padding.Before {
    /** Bodies shorter than this are left to one worker, in nanoseconds. */
    static final int TINY_NANOS = 400;
    private static final int BATCH_NANOS = 10_000;
    private static final int MAX_BATCH = 8;
    private static final int LONG_NANOS = 1_000_000;
    private static final int SHORT_NANOS = 50_000;
    private static final int UNKNOWN = -1;
    /** What one sample adds to the estimate, as a power of two. */
    private static final int WEIGHT = 3;

    private volatile int bodyNanos = UNKNOWN;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    void sample(long nanos) {
        int sample = (int) Math.min(nanos, LONG_NANOS);
        int before = bodyNanos;
        bodyNanos = before == UNKNOWN ? sample : before + ((sample - before) >> WEIGHT);
    }

    /** What was estimated does not hold any more. */
    void forget() {
        bodyNanos = UNKNOWN;
    }

    /** How many operations a worker may be given at once, so that the last does not wait for long. */
    int batch() {
        int nanos = bodyNanos;
        return nanos < 0 ? 1 : Math.min(MAX_BATCH, BATCH_NANOS / Math.max(1, nanos));
    }

    /** Whether it is known that a worker may as well do it itself as call another meanwhile. */
    boolean isShort() {
        int nanos = bodyNanos;
        return nanos >= 0 && nanos < SHORT_NANOS;
    }

    boolean isTiny() {
        int nanos = bodyNanos;
        return nanos >= 0 && nanos < TINY_NANOS;
    }
}

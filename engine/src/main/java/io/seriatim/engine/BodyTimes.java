package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;

/**
 * An estimate of the running time of a lane's bodies, from one sample in sixteen. The lane's workers update it without
 * a lock, because a lost update does no harm.
 *
 * <p>
 * Moving an operation from one processor to another costs some hundreds of nanoseconds, because its cache lines have to
 * follow. Much shorter bodies end sooner if one worker runs all of them.
 */
final class BodyTimes extends Padding.Before {
    /** Bodies shorter than this, in nanoseconds, are run by one worker. */
    static final int TINY_NANOS = 400;
    private static final int BATCH_NANOS = 10_000;
    private static final int MAX_BATCH = 8;
    private static final int LONG_NANOS = 1_000_000;
    private static final int SHORT_NANOS = 50_000;
    private static final int UNKNOWN = -1;
    /** The weight of a sample is two to the power of minus this. */
    private static final int WEIGHT = 3;

    private volatile int bodyNanos = UNKNOWN;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    void sample(long nanos) {
        int sample = (int) Math.min(nanos, LONG_NANOS);
        int before = bodyNanos;
        bodyNanos = before == UNKNOWN ? sample : before + ((sample - before) >> WEIGHT);
    }

    /** Discards the estimate. */
    void forget() {
        bodyNanos = UNKNOWN;
    }

    /** Returns how many operations a batch may hold, so that the last one does not wait for long. */
    int batch() {
        int nanos = bodyNanos;
        return nanos < 0 ? 1 : Math.min(MAX_BATCH, BATCH_NANOS / Math.max(1, nanos));
    }

    /** Returns whether bodies are known to be too short for another worker to take this one's place meanwhile. */
    boolean isShort() {
        int nanos = bodyNanos;
        return nanos >= 0 && nanos < SHORT_NANOS;
    }

    boolean isTiny() {
        int nanos = bodyNanos;
        return nanos >= 0 && nanos < TINY_NANOS;
    }
}

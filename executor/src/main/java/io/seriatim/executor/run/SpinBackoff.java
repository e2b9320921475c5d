package io.seriatim.executor.run;

/**
 * How long a thread has been looking for work in vain. It looks without pause at first: what it waits for often takes
 * microseconds, and to wake a thread that sleeps takes fifty or more. After a while it lets others have the processor
 * between looks, who may be those that it waits for.
 */
final class SpinBackoff {
    /**
     * Within a run that has other threads at work: the rest of a large task is waited for, a long serial part is not.
     */
    static final long IN_RUN_NANOS = 2_000_000;
    private static final long ALONE_NANOS = 50_000;
    /** How often to look before the clock is looked at. */
    private static final int LOOKS = 64;

    private int looks;
    private long since;

    /** There was work, or something else to wait for. */
    void restore() {
        looks = 0;
    }

    /** There was none, once more. Returns whether that has gone on for longer than a time. */
    @SuppressWarnings("ThreadPriorityCheck") // Only where there is nothing else to do.
    boolean isLost(long nanos) {
        if (++looks % LOOKS != 0) {
            Thread.onSpinWait();
            return false;
        }
        long now = System.nanoTime();
        since = looks == LOOKS ? now : since;
        if (now - since > ALONE_NANOS) {
            Thread.yield();
        }
        return now - since > nanos;
    }
}

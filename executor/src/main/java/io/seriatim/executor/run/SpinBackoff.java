package io.seriatim.executor.run;

/**
 * The back-off of a thread that polls for work. The thread spins at first: the work that it waits for often arrives
 * within microseconds, and waking a parked thread takes 50 µs or more. Later it yields the processor between polls,
 * since the threads that it waits for may need it.
 */
final class SpinBackoff {
    /**
     * The limit within a run whose other threads are working: longer than the rest of a large task, shorter than a long
     * serial section.
     */
    static final long IN_RUN_NANOS = 2_000_000;
    private static final long ALONE_NANOS = 50_000;
    /** The number of polls between two readings of the clock. */
    private static final int LOOKS = 64;

    private int looks;
    private long since;

    /** Resets the back-off after the thread has found work. */
    void restore() {
        looks = 0;
    }

    /**
     * Pauses after an unsuccessful poll. Returns whether all polls have been unsuccessful for longer than
     * {@code nanos}.
     */
    @SuppressWarnings("ThreadPriorityCheck") // The thread has no other work.
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

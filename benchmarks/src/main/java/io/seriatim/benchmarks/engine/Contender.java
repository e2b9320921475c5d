package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;

/** Something that runs workloads, to be timed against others. */
interface Contender extends AutoCloseable {
    /** Its name in tables, with its number of workers. */
    String name();

    /** How many threads run operations; 0 where the pushing thread does. */
    int workers();

    /**
     * Whether this is one of our own engine's settings, which the others are compared with.
     */
    default boolean ours() {
        return false;
    }

    /** Whether several threads can push. */
    default boolean takesPushers() {
        return true;
    }

    /** Whether it needs unmeasured rounds first. */
    default boolean needsWarmUp() {
        return true;
    }

    /**
     * Runs the work once, timed from the first push to the end of the last operation.
     *
     * @throws PeerUnavailableException
     *             if it cannot go on: it leaves the race
     */
    Lap run(Work work) throws InterruptedException, PeerUnavailableException;

    @Override
    default void close() {
        // Most hold nothing.
    }
}

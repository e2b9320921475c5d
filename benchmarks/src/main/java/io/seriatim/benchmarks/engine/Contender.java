package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;

/** A system that runs workloads and is compared with others. */
interface Contender extends AutoCloseable {
    /** Returns the name in tables, with the number of workers. */
    String name();

    /** Returns the number of threads that run operations; 0 if the pushing thread does. */
    int workers();

    /** Returns whether this is a setting of Seriatim's engine, which the others are compared with. */
    default boolean ours() {
        return false;
    }

    /** Returns whether several threads can push. */
    default boolean takesPushers() {
        return true;
    }

    /** Returns whether it needs warm-up rounds. */
    default boolean needsWarmUp() {
        return true;
    }

    /**
     * Runs the work once, timed from the first push to the end of the last operation.
     *
     * @throws PeerUnavailableException
     *             if it fails; it is then removed from the comparison
     */
    Lap run(Work work) throws InterruptedException, PeerUnavailableException;

    @Override
    default void close() {
        // Most contenders hold no resources.
    }
}

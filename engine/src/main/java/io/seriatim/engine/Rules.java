package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * Decisions of the engine that are easy to get wrong, and points where tests inject faults. A test overrides one method
 * with a wrong rule and checks that the test suite detects it. Outside tests there is no subclass, so the JIT compiler
 * inlines the methods.
 */
class Rules {
    /**
     * Returns the bound below which the order of an operation must be for it to be admitted before operations that were
     * pushed earlier.
     *
     * @param pushed
     *            the number of pushed operations; one that is being pushed is not in the log yet
     * @param cut
     *            the log position of the first wait that has not begun, which must not wait for later operations
     */
    long earlyBelow(long pushed, long cut) {
        return Math.min(pushed, cut);
    }

    /**
     * Returns whether no operation is pending.
     *
     * @param pushed
     *            the number of pushed operations
     * @param completed
     *            the number of operations that have ended
     * @param admitted
     *            the number of pushed operations that the tracker knows; fewer than all
     */
    boolean isIdle(long pushed, long completed, long admitted) {
        return pushed == completed;
    }

    /**
     * Returns whether a search for a cycle follows another wait. It follows only waits that were registered earlier, so
     * that exactly one wait of a cycle is refused.
     */
    boolean counts(Wait other, Wait searching) {
        return other.number < searching.number;
    }

    /**
     * Returns the callback that a worker calls before it takes an operation, or null. A worker must hold no operation
     * while it runs a callback.
     */
    @Nullable
    Callback nextCallback(EngineCore core) {
        return core.lock.pollDeferred();
    }

    /** Called by a worker that holds an operation and is about to run it. */
    void beforeRun(EngineCore core) {
        // No user code may be called here.
    }

    /** Called before an operation is appended to the log, where memory or stack may be exhausted. */
    void beforeAppend(Operation op) {
        // Tests throw an error here.
    }

    /** Called after a walk, or a shutdown, has visited an operation under the tracker lock. */
    void visited() {
        // Tests count the calls.
    }

    /** Called after a walk, or a shutdown, has released the tracker lock. */
    void paused() {
        // Tests count the calls.
    }

    /**
     * Returns whether a walk must release the tracker lock.
     *
     * @param until
     *            the end of its time slice, as a value of {@link System#nanoTime}
     */
    boolean isSliceOver(long until) {
        return System.nanoTime() - until >= 0;
    }

    /** Returns how long a sleeping worker waits before it checks whether it is still needed, in nanoseconds. */
    long lookAroundNanos() {
        return 1_000_000_000;
    }

    /** Returns for which of its predecessors, given by their indexes, an operation of a graph waits: for all. */
    int[] predecessors(int[] indexes) {
        return indexes;
    }

    /** Called before a worker is removed from its lane, where memory may be exhausted. */
    void beforeDismissal(Thread worker) {
        // Tests throw an error here.
    }
}

package io.seriatim.engine.dependency;

import org.jspecify.annotations.Nullable;

/**
 * Rules of the engine that are easily got wrong, each in a method of its own: tests replace one by a wrong one and must
 * notice. No other class extends this, so the methods are inlined.
 */
public class Rules {
    /**
     * Below which order an operation may be taken in before its turn.
     *
     * @param pushed
     *            how many operations have been pushed: one that is being pushed is not in the log yet
     * @param cut
     *            where the first of the waits that have not begun stands in the log: it waits for nothing that was
     *            pushed after it
     */
    public long earlyBelow(long pushed, long cut) {
        return Math.min(pushed, cut);
    }

    /**
     * Whether a search for a cycle counts another wait: only one that was registered before, so that one wait of a
     * cycle is told and not several.
     */
    public boolean counts(Wait other, Wait searching) {
        return other.number < searching.number;
    }

    /** What a worker calls before it takes an operation: it is to hold none while the user's code runs. */
    @Nullable
    public Callback nextCallback(Owner core) {
        return core.pollDeferred();
    }

    /** A worker holds an operation and is about to run it. */
    public void beforeRun(Owner core) {
        // Nothing of the user's belongs here.
    }

    /** An operation is about to be appended to the log, where memory or stack may come to its end. */
    public void beforeAppend(Operation op) {
        // Tests throw here.
    }

    /** A walk, or a shutdown, has looked at an operation under the tracker lock; tests count. */
    public void visited() {
        // Tests count here.
    }

    /** A walk, or a shutdown, has released the tracker lock. */
    public void paused() {
        // Tests count here.
    }

    /**
     * Whether a walk is to release the tracker lock.
     *
     * @param until
     *            when it has held the lock for long enough, as {@link System#nanoTime}
     */
    public boolean isSliceOver(long until) {
        return System.nanoTime() - until >= 0;
    }

    /** A worker is about to be taken out of its lane, where memory may come to its end. */
    public void beforeDismissal(Thread worker) {
        // Tests throw here.
    }
}

package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * Rules of the engine that are easily got wrong, each in a method of its own: tests replace one by a wrong one and must
 * notice. No other class extends this, so the methods are inlined.
 */
class Rules {
    /**
     * Below which order an operation may be taken in before its turn.
     *
     * @param pushed
     *            how many operations have been pushed: one that is being pushed is not in the log yet
     * @param cut
     *            where the first of the waits that have not begun stands in the log: it waits for nothing that was
     *            pushed after it
     */
    long earlyBelow(long pushed, long cut) {
        return Math.min(pushed, cut);
    }

    /**
     * Whether a search for a cycle counts another wait: only one that was registered before, so that one wait of a
     * cycle is told and not several.
     */
    boolean counts(Waits.Wait other, Waits.Wait searching) {
        return other.number < searching.number;
    }

    /** What a worker calls before it takes an operation: it is to hold none while the user's code runs. */
    @Nullable
    Callback nextCallback(EngineCore core) {
        return core.pollDeferred();
    }

    /** A worker holds an operation and is about to run it. */
    void beforeRun(EngineCore core) {
        // Nothing of the user's belongs here.
    }

    /** An operation is about to be appended to the log, where memory or stack may come to its end. */
    void beforeAppend(Operation op) {
        // Tests throw here.
    }

    /** A worker is about to be taken out of its lane, where memory may come to its end. */
    void beforeDismissal(Worker worker) {
        // Tests throw here.
    }
}

package io.seriatim.executor.run;

import java.io.Serial;

/** A flag that tells all threads of a run, including those that run plans of its blocks, that the run has failed. */
public final class Cancellation {
    private volatile boolean cancelled;

    /**
     * Thrown by a thread of a run that has failed on another thread. The caller receives that thread's failure instead.
     */
    static final class Signal extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        Signal() {
            super("The run has failed on another thread", null, false, false);
        }
    }

    void cancel() {
        cancelled = true;
    }

    boolean isCancelled() {
        return cancelled;
    }
}

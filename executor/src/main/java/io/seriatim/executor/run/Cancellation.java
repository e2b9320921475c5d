package io.seriatim.executor.run;

import java.io.Serial;

/** Tells all threads of a run, those in the plans of inner blocks too, that it has failed elsewhere. */
public final class Cancellation {
    private volatile boolean cancelled;

    /** Ends what a thread does for a run that has failed elsewhere; the failure that counts is that one. */
    static final class Signal extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        Signal() {
            super("The run has failed elsewhere", null, false, false);
        }
    }

    void cancel() {
        cancelled = true;
    }

    boolean isCancelled() {
        return cancelled;
    }
}

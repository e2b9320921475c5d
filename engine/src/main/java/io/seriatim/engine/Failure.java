package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * The failure of an operation. All variables that it poisons, directly or through skipped operations, share one
 * instance.
 */
final class Failure {
    final String operation;
    final Throwable cause;

    /** Whether a wait, a future or {@code failure(v)} has reported it to a caller. Never reset. */
    volatile boolean observed;

    /** The next failure in the list of an epoch, and whether this failure is in a list; guarded by the tracker lock. */
    @Nullable
    Failure next;
    boolean listed;

    Failure(String operation, Throwable cause) {
        this.operation = operation;
        this.cause = cause;
    }

    OperationFailedException on(Var var) {
        return new OperationFailedException(operation, var, cause);
    }
}

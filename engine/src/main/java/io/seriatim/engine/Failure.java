package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/** What made an operation fail. Shared by every variable that it poisons, directly or through skipped operations. */
final class Failure {
    final String operation;
    final Throwable cause;

    /** Whether a wait, a future or {@code failure(v)} has handed it to someone. Only ever set. */
    volatile boolean observed;

    /** The next of the failures of an epoch, and whether it stands among some; guarded by the tracker lock. */
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

package io.seriatim.engine.dependency;

import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Var;
import org.jspecify.annotations.Nullable;

/**
 * The failure of an operation. All variables that it poisons, directly or through skipped operations, share one
 * instance.
 */
public final class Failure {
    public final String operation;
    public final Throwable cause;

    /** Whether a wait, a future or {@code failure(v)} has reported it to a caller. Never reset. */
    public volatile boolean observed;

    /** The next failure in the list of an epoch, and whether this failure is in a list; guarded by the tracker lock. */
    @Nullable
    Failure next;
    boolean listed;

    public Failure(String operation, Throwable cause) {
        this.operation = operation;
        this.cause = cause;
    }

    public OperationFailedException on(Var var) {
        return new OperationFailedException(operation, var, cause);
    }
}

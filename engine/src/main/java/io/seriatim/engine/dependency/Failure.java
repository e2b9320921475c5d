package io.seriatim.engine.dependency;

import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Var;
import org.jspecify.annotations.Nullable;

/** What made an operation fail. Shared by every variable that it poisons, directly or through skipped operations. */
public final class Failure {
    public final String operation;
    public final Throwable cause;

    /** Whether a wait, a future or {@code failure(v)} has handed it to someone. Only ever set. */
    public volatile boolean observed;

    /** The next of the failures of an epoch, and whether it stands among some; guarded by the tracker lock. */
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

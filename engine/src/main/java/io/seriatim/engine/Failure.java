package io.seriatim.engine;

/** What made an operation fail. Shared by every variable that it poisons, directly or through skipped operations. */
final class Failure {
    final String operation;
    final Throwable cause;

    /** Whether a wait, a future or {@code failure(v)} has handed it to someone. Only ever set. */
    volatile boolean observed;

    Failure(String operation, Throwable cause) {
        this.operation = operation;
        this.cause = cause;
    }

    OperationFailedException on(Var var) {
        return new OperationFailedException(operation, var, cause);
    }
}

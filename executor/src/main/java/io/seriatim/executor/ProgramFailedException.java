package io.seriatim.executor;

import java.io.Serial;

/** An operation of a program has failed. The cause is what it threw. */
public final class ProgramFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String operation;

    ProgramFailedException(String operation, String message, Throwable cause) {
        super(message, cause);
        this.operation = operation;
    }

    /**
     * The operation that failed.
     *
     * @return its type
     */
    public String operation() {
        return operation;
    }
}

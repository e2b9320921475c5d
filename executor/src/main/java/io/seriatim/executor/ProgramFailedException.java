package io.seriatim.executor;

import java.io.Serial;

/** An operation of a program has failed. The message says which, with its inputs' shapes and where it was built, if the program says so; the cause is what it threw. */
public final class ProgramFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Its type, or what else has failed. */
    private final String operation;

    ProgramFailedException(String operation, String message, Throwable cause) {
        super(message, cause);
        this.operation = operation;
    }

    /**
     * The operation that failed.
     *
     * @return its type; {@code memcpy_h2d}, {@code memcpy_d2h} or {@code memcpy_d2d} for a copy between places, {@code plan} if it was none of them, as when there is no memory for temporaries
     */
    public String operation() {
        return operation;
    }
}

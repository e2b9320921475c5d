package io.seriatim.executor;

import io.seriatim.executor.ir.RunFailure;
import java.io.Serial;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a program has failed. The message says which, with its inputs' shapes and where it was built, if the
 * program says so; the cause is what it threw.
 */
public final class ProgramFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Its type, or what else has failed. */
    private final String operation;
    /** Lines of text; an ArrayList or an immutable list, which are serializable. */
    @SuppressWarnings("serial")
    private final List<String> callStack;

    ProgramFailedException(String operation, String message, Throwable cause) {
        this(operation, message, cause, List.of());
    }

    ProgramFailedException(String operation, String message, @Nullable Throwable cause, List<String> callStack) {
        super(message, cause);
        this.operation = operation;
        this.callStack = List.copyOf(callStack);
    }

    /** The same failure, as callers get it. */
    static ProgramFailedException of(RunFailure failure) {
        ProgramFailedException e = new ProgramFailedException(failure.operation(), String.valueOf(failure.getMessage()),
                failure.getCause(),
                failure.callStack());
        e.setStackTrace(failure.getStackTrace());
        for (Throwable suppressed : failure.getSuppressed()) {
            e.addSuppressed(suppressed instanceof RunFailure other ? of(other) : suppressed);
        }
        return e;
    }

    /**
     * The operation that failed.
     *
     * @return its type; {@code memcpy_h2d}, {@code memcpy_d2h} or {@code memcpy_d2d} for a copy between places,
     * {@code plan} if it was none of them, as when there is no memory for temporaries
     */
    public String operation() {
        return operation;
    }

    /**
     * The call stack with which the operation was built. The message has only its innermost line outside of the
     * framework.
     *
     * @return the lines of the operation's attribute {@code op_callstack}: for programs of PaddlePaddle those of
     * Python, the innermost last; empty if the program does not say
     */
    public List<String> callStack() {
        return callStack;
    }
}

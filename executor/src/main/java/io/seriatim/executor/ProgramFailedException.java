package io.seriatim.executor;

import io.seriatim.executor.ir.RunFailure;
import java.io.Serial;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when an operation of a program has failed. The message names the operation, the shapes of its inputs and, if
 * the program contains it, the source line that built the operation. The cause is the exception that the operation
 * threw.
 */
public final class ProgramFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** The type of the operation, or another name as {@link #operation()} describes. */
    private final String operation;
    /** An immutable list of strings, which is serializable. */
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

    /** Converts the internal exception to the public one. */
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
     * Returns the operation that failed.
     *
     * @return the type of the operation; {@code memcpy_h2d}, {@code memcpy_d2h} or {@code memcpy_d2d} for a copy
     * between places; {@code plan} if no operation failed, for example because memory for temporaries could not be
     * allocated
     */
    public String operation() {
        return operation;
    }

    /**
     * Returns the call stack that built the operation. The message contains only the innermost line outside of the
     * framework.
     *
     * @return the lines of the operation's attribute {@code op_callstack}, for programs of PaddlePaddle a Python call
     * stack with the innermost call last; empty if the operation has no such attribute
     */
    public List<String> callStack() {
        return callStack;
    }
}

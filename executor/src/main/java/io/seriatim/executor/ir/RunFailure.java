package io.seriatim.executor.ir;

import java.io.Serial;
import java.util.List;

/** Thrown internally when an operation of a run has failed. The API converts it to a {@code ProgramFailedException}. */
public final class RunFailure extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String operation;
    /** An immutable list of strings, which is serializable. */
    @SuppressWarnings("serial")
    private final List<String> callStack;

    public RunFailure(String operation, String message, Throwable cause) {
        this(operation, message, cause, List.of());
    }

    RunFailure(String operation, String message, Throwable cause, List<String> callStack) {
        super(message, cause);
        this.operation = operation;
        this.callStack = List.copyOf(callStack);
    }

    /** Returns the type of the operation, or another name as {@code ProgramFailedException.operation} describes. */
    public String operation() {
        return operation;
    }

    /** Returns the call stack that built the operation; empty if the program does not contain it. */
    public List<String> callStack() {
        return callStack;
    }
}

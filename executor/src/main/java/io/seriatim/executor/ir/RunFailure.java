package io.seriatim.executor.ir;

import java.io.Serial;
import java.util.List;

/**
 * An operation of a run has failed, as the packages behind the API report it; callers of a plan get it as a
 * {@code ProgramFailedException}.
 */
public final class RunFailure extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String operation;
    /** An ArrayList or an immutable list, which are serializable. */
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

    /** The type of the operation, or what else has failed. */
    public String operation() {
        return operation;
    }

    /** Where the operation was built; empty if the program does not say. */
    public List<String> callStack() {
        return callStack;
    }
}

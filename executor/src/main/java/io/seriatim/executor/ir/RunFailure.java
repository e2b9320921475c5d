package io.seriatim.executor.ir;

import java.io.Serial;
import java.util.List;
import java.util.Set;

/** Thrown internally when an operation of a run has failed. The API converts it to a {@code ProgramFailedException}. */
public final class RunFailure extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String operation;
    /** An immutable list of strings, which is serializable. */
    @SuppressWarnings("serial")
    private final List<String> callStack;

    /** An immutable set of strings, which is serializable. */
    @SuppressWarnings("serial")
    private final Set<String> reads;

    public RunFailure(String operation, String message, Throwable cause) {
        this(operation, message, cause, List.of(), Set.of());
    }

    RunFailure(String operation, String message, Throwable cause, List<String> callStack, Set<String> reads) {
        super(message, cause);
        this.operation = operation;
        this.callStack = List.copyOf(callStack);
        this.reads = Set.copyOf(reads);
    }

    /** Returns the variables that the operation reads, with those of operations that were fused with it. */
    public Set<String> reads() {
        return reads;
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

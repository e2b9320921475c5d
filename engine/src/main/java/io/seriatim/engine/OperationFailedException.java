package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * An operation failed, and so the variable that was waited for has no value. The cause is what its body threw.
 */
public class OperationFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The name of the operation that threw. */
    private final String operation;

    /** The variable waited for. */
    private final transient @Nullable Var var;

    /**
     * Describes a failure.
     *
     * @param operation
     *            the name of the operation that threw
     * @param var
     *            the variable waited for, or null where all were
     * @param cause
     *            what the body threw
     */
    public OperationFailedException(String operation, @Nullable Var var, Throwable cause) {
        super(message(operation, var, cause), cause);
        this.operation = operation;
        this.var = var;
    }

    private static String message(String operation, @Nullable Var var, Throwable cause) {
        String failed = "operation '" + operation + "' failed with " + cause;
        return var == null
                ? failed
                : failed + ", so variable '" + var.name() + "' has no value: overwrite it or clear its failure";
    }

    /**
     * The operation that failed.
     *
     * @return the name of the operation whose body threw
     */
    public String operation() {
        return operation;
    }

    /**
     * The variable that was waited for.
     *
     * @return the variable, or null at {@link Engine#waitForAll()} and after deserialisation
     */
    public @Nullable Var var() {
        return var;
    }
}

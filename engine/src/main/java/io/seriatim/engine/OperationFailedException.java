package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a wait when an operation has failed, so that the awaited variable has no value. The cause is the exception
 * that the operation's body threw.
 */
public class OperationFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The name of the operation that threw. */
    private final String operation;

    /** The awaited variable. */
    private final transient @Nullable Var var;

    /**
     * Creates an exception for one failed operation.
     *
     * @param operation
     *            the name of the operation that threw
     * @param var
     *            the awaited variable, or null if the wait was for all operations
     * @param cause
     *            the exception that the body threw
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
     * Returns the name of the operation that failed.
     *
     * @return the name of the operation whose body threw
     */
    public String operation() {
        return operation;
    }

    /**
     * Returns the awaited variable.
     *
     * @return the variable, or null at {@link Engine#waitForAll()} and after deserialisation
     */
    public @Nullable Var var() {
        return var;
    }
}

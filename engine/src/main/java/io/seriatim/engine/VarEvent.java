package io.seriatim.engine;

/**
 * Something that happened to a traced variable.
 *
 * @param kind
 *            what
 * @param var
 *            the variable
 * @param operation
 *            the name of the operation that did it
 * @param version
 *            the variable's version after it
 * @param nanos
 *            when, as {@link System#nanoTime}
 */
public record VarEvent(Kind kind, Var var, String operation, long version, long nanos) {
    /** What may happen. */
    public enum Kind {
        /** An operation that reads it has become ready. */
        READ_READY,
        /** An operation that mutates it has become ready. */
        MUTATE_READY,
        /** An operation that read it has ended. */
        READ_ENDED,
        /** An operation that mutated it has ended well. */
        MUTATED,
        /** An operation that mutates it has failed or was skipped: the variable is poisoned. */
        POISONED,
        /** Its failure was cleared. */
        CLEARED,
        /** It was deleted. */
        DELETED
    }
}

package io.seriatim.engine;

/**
 * An event of a traced variable.
 *
 * @param kind
 *            the kind of event
 * @param var
 *            the variable
 * @param operation
 *            the name of the operation that caused it
 * @param version
 *            the variable's version after the event
 * @param nanos
 *            the time, as a value of {@link System#nanoTime}
 */
public record VarEvent(Kind kind, Var var, String operation, long version, long nanos) {
    /** The kinds of events. */
    public enum Kind {
        /** An operation that reads it has become ready. */
        READ_READY,
        /** An operation that mutates it has become ready. */
        MUTATE_READY,
        /** An operation that reads it has ended. */
        READ_ENDED,
        /** An operation that mutates it has ended normally. */
        MUTATED,
        /** An operation that mutates it has failed or was skipped, so the variable is poisoned. */
        POISONED,
        /** Its failure was cleared. */
        CLEARED,
        /** It was deleted. */
        DELETED
    }
}

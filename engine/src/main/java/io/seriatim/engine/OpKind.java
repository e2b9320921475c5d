package io.seriatim.engine;

/** The kind of work of an operation, which chooses a queue of the operation's place. */
public enum OpKind {
    /** Ordinary work, on the queue that the lane names. */
    NORMAL,
    /** A copy to the place, on its copy lane. */
    COPY_IN,
    /** A copy from the place, on its copy lane. */
    COPY_OUT,
    /**
     * Urgent work: on {@code cpu} it runs on the shared priority lane, on other places at the head of the compute lane.
     */
    PRIORITIZED,
    /** Runs on the thread that pushes it, or on the thread that completes its last predecessor. Must not block. */
    ASYNC,
    /** Frees the resources behind variables. Runs even if they are poisoned, and after {@link Engine#shutdownNow}. */
    DELETE
}

package io.seriatim.engine;

/** What kind of work an operation is; it picks the queue of the operation's place. */
public enum OpKind {
    /** Ordinary work, on the queue that the lane names. */
    NORMAL,
    /** A copy to the place, on its copy lane. */
    COPY_IN,
    /** A copy from the place, on its copy lane. */
    COPY_OUT,
    /** Urgent work: on {@code cpu} on the shared priority lane, elsewhere at the head of the place's compute lane. */
    PRIORITIZED,
    /** Runs on the thread that pushes it, or on the one that completes its last predecessor; must not block. */
    ASYNC,
    /** Frees what variables stand for: runs even if they are poisoned, and after {@link Engine#shutdownNow}. */
    DELETE
}

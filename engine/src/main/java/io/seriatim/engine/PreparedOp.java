package io.seriatim.engine;

/** An operation that is described once and pushed many times. Several threads may push it at the same time. */
public interface PreparedOp {
    /**
     * Pushes the operation with the lane and the priority of its description.
     *
     * @throws IllegalStateException
     *             if this operation or one of its variables is deleted, or the engine is closed
     */
    void push();

    /**
     * Pushes the operation with another priority.
     *
     * @param priority
     *            operations with a higher number run first
     * @throws IllegalStateException
     *             if this operation or one of its variables is deleted, or the engine is closed
     */
    void push(int priority);

    /**
     * Pushes the operation on another lane, with another priority.
     *
     * @param lane
     *            the lane to run on
     * @param priority
     *            operations with a higher number run first
     * @throws IllegalStateException
     *             if this operation or one of its variables is deleted, or the engine is closed
     */
    void push(Lane lane, int priority);

    /**
     * Releases the references to the body and the variables, once all pushes have ended. A later push throws
     * {@link IllegalStateException}; a second call has no effect.
     */
    void delete();
}

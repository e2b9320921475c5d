package io.seriatim.engine;

/**
 * An operation described once and pushed many times, by many threads at once.
 */
public interface PreparedOp {
    /**
     * Pushes the operation on the lane and with the priority that it was described with.
     *
     * @throws IllegalStateException
     *             if this or one of its variables is deleted, or the engine closed
     */
    void push();

    /**
     * Pushes the operation with another priority.
     *
     * @param priority
     *            a higher number runs first
     * @throws IllegalStateException
     *             if this or one of its variables is deleted, or the engine closed
     */
    void push(int priority);

    /**
     * Pushes the operation on another lane, with another priority.
     *
     * @param lane
     *            where to run
     * @param priority
     *            a higher number runs first
     * @throws IllegalStateException
     *             if this or one of its variables is deleted, or the engine closed
     */
    void push(Lane lane, int priority);

    /**
     * Drops the body and the variables once all pushes have completed. A later push throws
     * {@link IllegalStateException}; deleting again does nothing.
     */
    void delete();
}

package io.seriatim.engine;

/** The body of an asynchronous operation: it starts the work, and a {@link Completion} reports its end later. */
@FunctionalInterface
public interface AsyncBody {
    /**
     * Starts the work.
     *
     * @param done
     *            must be called exactly once, by any thread, during this call or later
     * @throws Exception
     *             any exception makes the operation fail, unless it was completed before
     */
    void start(Completion done) throws Exception;
}

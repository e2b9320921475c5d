package io.seriatim.engine;

/** What an operation starts, when its end is told later. */
@FunctionalInterface
public interface AsyncBody {
    /**
     * Starts it.
     *
     * @param done
     *            to be called exactly once, by any thread, now or later
     * @throws Exception
     *             anything: the operation has failed, unless it was completed before
     */
    void start(Completion done) throws Exception;
}

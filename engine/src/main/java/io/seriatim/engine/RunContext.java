package io.seriatim.engine;

/** What an operation may ask about the worker that runs it. */
public interface RunContext {
    /**
     * The context of the operation that the calling thread runs.
     *
     * @return the context, valid until the body returns
     * @throws IllegalStateException
     *             outside an operation
     */
    static RunContext current() {
        RunContext context = Implementation.RUNTIME.context();
        if (context == null) {
            throw new IllegalStateException(
                    "there is no RunContext outside an operation: call RunContext.current() in its body");
        }
        return context;
    }

    /**
     * The lane that the operation runs on.
     *
     * @return the lane
     */
    Lane lane();

    /**
     * The worker's number on its lane.
     *
     * @return from 0; spare workers, which stand in for waiting ones, have the numbers after the lane's own; 0 on the
     * naive and the shuffled engine
     */
    int worker();

    /**
     * The worker's own state, made by a supplier given to {@link Engine.Builder#workerState}.
     *
     * @param <T>
     *            the type of the state
     * @param type
     *            a class that the state is an instance of
     * @return the state
     * @throws IllegalStateException
     *             if the lane has no state of that type
     */
    <T> T state(Class<T> type);
}

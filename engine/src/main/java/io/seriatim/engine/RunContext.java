package io.seriatim.engine;

/** The context of a running operation: its lane, its worker and the worker's state. */
public interface RunContext {
    /**
     * Returns the context of the operation that the calling thread runs.
     *
     * @return the context, which is valid until the body returns
     * @throws IllegalStateException
     *             outside an operation
     */
    static RunContext current() {
        RunContext context = RunningOperation.context();
        if (context == null) {
            throw new IllegalStateException(
                    "there is no RunContext outside an operation: call RunContext.current() in its body");
        }
        return context;
    }

    /**
     * Returns the lane that the operation runs on.
     *
     * @return the lane
     */
    Lane lane();

    /**
     * Returns the worker's number on its lane.
     *
     * @return a number from 0. Spare workers, which replace waiting ones, have the numbers after the lane's regular
     * workers. Always 0 on the naive and the shuffled engine
     */
    int worker();

    /**
     * Returns the worker's state, which a supplier given to {@link Engine.Builder#workerState} creates.
     *
     * @param <T>
     *            the type of the state
     * @param type
     *            the class or a superclass of the state
     * @return the state
     * @throws IllegalStateException
     *             if the lane has no state of that type
     */
    <T> T state(Class<T> type);
}

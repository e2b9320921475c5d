package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.common.PeerUnavailableException;

/** A task system that runs graphs with a fixed number of threads. */
interface MetgSystem extends AutoCloseable {
    /** Which row of the ratios a system belongs to. */
    enum Kind {
        OURS, JVM, NATIVE
    }

    /** Returns the value of {@code --system}. */
    String key();

    /** Returns the name in tables. */
    String name();

    Kind kind();

    /** Returns whether the thread that pushes is one of those that run tasks; otherwise it is an additional one. */
    boolean pusherRunsTasks();

    /**
     * Runs the first steps of a graph.
     *
     * @return nanoseconds from the first push to the end of the last task
     * @throws WrongValueException
     *             if a task read a wrong value, did not run or ran twice
     * @throws PeerUnavailableException
     *             if the system failed
     */
    long run(TaskGraph graph, int steps, int iterations)
            throws InterruptedException, WrongValueException, PeerUnavailableException;

    /** Returns the floating-point operations per nanosecond of as many threads that only run the kernel. */
    double peak(long nanos) throws InterruptedException, PeerUnavailableException;

    @Override
    void close();
}

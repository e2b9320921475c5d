package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.util.function.Consumer;

/**
 * Another engine that schedules by read and write sets, to compare with Seriatim's. Found by
 * {@link java.util.ServiceLoader}.
 */
public interface EnginePeer {
    /**
     * Returns the name.
     *
     * @return name and version, as shown in tables
     */
    String name();

    /**
     * Starts the engine.
     *
     * @param workers
     *            the number of threads that run operations
     * @param notice
     *            receives messages for the user, for instance before a download
     * @return a running engine after warm-up; sessions with different numbers of workers may be open at the same time
     * @throws PeerUnavailableException
     *             if the engine is not available on this machine
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    Session open(int workers, Consumer<String> notice) throws PeerUnavailableException, InterruptedException;

    /** A running engine. */
    interface Session extends AutoCloseable {
        /**
         * Runs a workload once.
         *
         * @param workload
         *            one of {@link Workload#NAMES}
         * @param ops
         *            the number of operations, as for {@link Workload#of}
         * @param spin
         *            the number of extra loop iterations of each operation
         * @return the time of the run
         * @throws PeerUnavailableException
         *             if the engine has failed
         * @throws InterruptedException
         *             if the thread is interrupted
         */
        Timing run(String workload, int ops, int spin) throws PeerUnavailableException, InterruptedException;

        /** Stops the engine. */
        @Override
        void close();
    }

    /**
     * The time of one run.
     *
     * @param nanos
     *            the time from the first push to the end of the last operation
     * @param operations
     *            the number of operations
     * @param check
     *            whether the result equals that of the serial program
     */
    record Timing(long nanos, long operations, ResultCheck check) {
    }
}

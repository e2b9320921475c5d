package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.util.function.Consumer;

/**
 * Another engine that schedules by read and write sets, to be compared with ours. Found by
 * {@link java.util.ServiceLoader}.
 */
public interface EnginePeer {
    /**
     * Its name.
     *
     * @return name and version, as tables show it
     */
    String name();

    /**
     * Makes the engine ready.
     *
     * @param workers
     *            the number of threads that run operations
     * @param notice
     *            takes lines for the user, for instance before something is downloaded
     * @return an engine that waits for work and is warm; sessions of several worker counts may be open at once
     * @throws PeerUnavailableException
     *             if it cannot be had on this machine
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    Session open(int workers, Consumer<String> notice) throws PeerUnavailableException, InterruptedException;

    /** An engine that waits for work. */
    interface Session extends AutoCloseable {
        /**
         * Runs a workload once.
         *
         * @param workload
         *            one of {@link Workload#NAMES}
         * @param ops
         *            the number of operations, as for {@link Workload#of}
         * @param spin
         *            the extra loop turns of each operation
         * @return how long it took
         * @throws PeerUnavailableException
         *             if the engine is gone
         * @throws InterruptedException
         *             if the thread is interrupted
         */
        Timing run(String workload, int ops, int spin) throws PeerUnavailableException, InterruptedException;

        /** Frees the engine. */
        @Override
        void close();
    }

    /**
     * How long one run took.
     *
     * @param nanos
     *            the time from the first push to the end of the last operation
     * @param operations
     *            how many there were
     * @param check
     *            whether the result was that of the serial program
     */
    record Timing(long nanos, long operations, ResultCheck check) {
    }
}

package io.seriatim.benchmarks.serve;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.function.Consumer;

/** Another system that serves networks, to compare with Seriatim. Found by {@link java.util.ServiceLoader}. */
public interface ServePeer {
    /**
     * Returns the name.
     *
     * @return name and version, as shown in tables
     */
    String name();

    /**
     * Loads a network, for any number of callers.
     *
     * @param network
     *            the inference network, with one feed
     * @param parameters
     *            the values of its parameters
     * @param fed
     *            the name of the input, whose shape is that of the variable
     * @param fetched
     *            the name of the result
     * @param notice
     *            receives messages for the user, for instance before a download
     * @return a session that answers each request with one thread
     * @throws PeerUnavailableException
     *             if the system is not available on this machine, or does not support an operation
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    Session open(Program network, Map<String, Tensor> parameters, String fed, String fetched, Consumer<String> notice)
            throws PeerUnavailableException, InterruptedException;

    /** Answers requests. Thread-safe. */
    interface Session extends AutoCloseable {
        /**
         * Answers one request.
         *
         * @param values
         *            the values of the input
         * @return the values of the result
         */
        float[] call(float... values);

        /** Frees the session. */
        @Override
        void close();
    }
}

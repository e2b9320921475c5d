package io.seriatim.benchmarks.serve;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.function.Consumer;

/** Another system that serves networks, to be compared with ours. Found by {@link java.util.ServiceLoader}. */
public interface ServePeer {
    /**
     * Its name.
     *
     * @return name and version, as tables show it
     */
    String name();

    /**
     * Makes a network ready, for as many callers as there are.
     *
     * @param network
     *            for inference, of which one variable is fed
     * @param parameters
     *            the values of its parameters
     * @param fed
     *            the name of what is fed; its shape is that of the variable
     * @param fetched
     *            the name of the result
     * @param notice
     *            takes lines for the user, for instance before something is downloaded
     * @return what answers requests, with one thread for each
     * @throws PeerUnavailableException
     *             if it cannot be had on this machine, or does not know an operation
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    Session open(Program network, Map<String, Tensor> parameters, String fed, String fetched, Consumer<String> notice)
            throws PeerUnavailableException, InterruptedException;

    /** Answers requests. For many threads at once. */
    interface Session extends AutoCloseable {
        /**
         * One request.
         *
         * @param values
         *            of what is fed
         * @return the values of the result
         */
        float[] call(float... values);

        /** Frees it. */
        @Override
        void close();
    }
}

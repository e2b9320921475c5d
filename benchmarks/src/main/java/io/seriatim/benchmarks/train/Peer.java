package io.seriatim.benchmarks.train;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Another system that runs the same workloads. */
interface Peer {
    /** Returns the name in tables and in the key {@code lib} of result lines. */
    String name();

    /** Returns whether the peer supports a workload. */
    boolean does(TrainWork work);

    /**
     * Measures a workload in a separate process.
     *
     * @return one line for each part of the workload, in Seriatim's format
     * @throws PeerUnavailableException
     *             if the peer cannot run or fails; the message gives the reason
     */
    List<Figures> run(TrainWork work, int threads) throws InterruptedException, PeerUnavailableException;

    /**
     * Returns the peers in a folder that this machine can run.
     *
     * @param folder
     *            a folder with folders {@code python} and {@code jvm}, or one of them
     * @param environment
     *            the values of environment variables, null if not set
     * @param notice
     *            receives a message about the missing setting of a peer that cannot run
     */
    static List<Peer> in(Path folder, Function<String, @Nullable String> environment, Consumer<String> notice) {
        return Stream
                .concat(PythonPeer.in(folder.resolve("python"), environment, notice), JvmPeer.in(folder.resolve("jvm")))
                .toList();
    }
}

package io.seriatim.benchmarks.train;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Another system that does the same works. */
interface Peer {
    /** In tables, and as {@code lib} in lines of figures. */
    String name();

    /** Whether it does a work at all. */
    boolean does(TrainWork work);

    /**
     * Measures it in a process of its own.
     *
     * @return a line for each part of the work, as ours are
     * @throws PeerUnavailableException
     *             if it cannot be run, or fails: why
     */
    List<Figures> run(TrainWork work, int threads) throws InterruptedException, PeerUnavailableException;

    /**
     * Those that a folder has and this machine can run.
     *
     * @param folder
     *            has the folders {@code python} and {@code jvm}, or one of them
     * @param environment
     *            the values of environment variables, null for what is not set
     * @param notice
     *            is told what is to be set for one that is there, but cannot be run
     */
    static List<Peer> in(Path folder, Function<String, @Nullable String> environment, Consumer<String> notice) {
        return Stream
                .concat(PythonPeer.in(folder.resolve("python"), environment, notice), JvmPeer.in(folder.resolve("jvm")))
                .toList();
    }
}

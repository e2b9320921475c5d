package io.seriatim.benchmarks.mxnet;

import io.seriatim.benchmarks.common.PeerFolder;
import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.engine.EnginePeer;
import java.util.function.Consumer;

/** Apache MXNet's dependency engine, out of the library that is published on Maven Central. */
public final class MxnetPeer implements EnginePeer {
    /** Made by the service loader. */
    public MxnetPeer() {
        // Nothing is loaded before it is opened.
    }

    @Override
    public String name() {
        return "MXNet " + MxnetLibrary.VERSION;
    }

    @Override
    public Session open(int workers, Consumer<String> notice) throws PeerUnavailableException, InterruptedException {
        return MxnetSession.start(new MxnetLibrary(PeerFolder.beside(MxnetPeer.class)).locate(notice), workers);
    }
}

package io.seriatim.benchmarks.mxnet;

import io.seriatim.benchmarks.common.PeerFolder;
import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.engine.EnginePeer;
import java.util.function.Consumer;

/** Apache MXNet's dependency engine, from the library published on Maven Central. */
public final class MxnetPeer implements EnginePeer {
    /** Created by the service loader. */
    public MxnetPeer() {
        // The library is loaded only when a session is opened.
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

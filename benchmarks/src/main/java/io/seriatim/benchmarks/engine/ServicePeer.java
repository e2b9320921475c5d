package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.util.function.Consumer;

/** A peer found by {@link java.util.ServiceLoader}, as a contender. */
final class ServicePeer implements Contender {
    private final String name;
    private final int workers;
    private final EnginePeer.Session session;

    private ServicePeer(String name, int workers, EnginePeer.Session session) {
        this.name = name;
        this.workers = workers;
        this.session = session;
    }

    static ServicePeer open(EnginePeer peer, int workers, Consumer<String> notice)
            throws PeerUnavailableException, InterruptedException {
        return new ServicePeer(peer.name() + Workers.text(workers), workers, peer.open(workers, notice));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int workers() {
        return workers;
    }

    @Override
    public boolean takesPushers() {
        return false;
    }

    /** A session is already warmed up. */
    @Override
    public boolean needsWarmUp() {
        return false;
    }

    @Override
    public Lap run(Work work) throws PeerUnavailableException, InterruptedException {
        EnginePeer.Timing timing = session.run(work.name(), work.program().size(), work.spin());
        return Lap.of((double) timing.nanos() / timing.operations(), timing.check());
    }

    @Override
    public void close() {
        session.close();
    }
}

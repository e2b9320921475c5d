package io.seriatim.cluster.transport;

import io.seriatim.graph.parallel.CommunicationException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Connects each pair of ranks twice, for control and for data: the higher rank connects to the lower. */
public final class Mesh {
    private static final long FIRST_PAUSE = 5;
    private static final long LONGEST_PAUSE = 200;

    private final Member self;
    private final Listener listener;
    private final long deadline;
    private final @Nullable TimedChannel[][] channels;
    private final @Nullable SharedMemory[] shared;

    private Mesh(Member self, Listener listener, long deadline) {
        this.self = self;
        this.listener = listener;
        this.deadline = deadline;
        channels = new TimedChannel[2][self.ranks()];
        shared = new SharedMemory[self.ranks()];
    }

    /**
     * Connects this rank with all others, and returns when all others have done so, too.
     *
     * @param self
     *            this rank
     * @param addresses
     *            of all ranks
     * @param listener
     *            of this rank, which is closed
     * @param isSharing
     *            whether memory may be shared with ranks that are connected by Unix-domain sockets
     * @param deadline
     *            of {@link System#nanoTime}
     * @return the connections
     * @throws CommunicationException
     *             if a rank does not come
     */
    public static Transport join(Member self, List<String> addresses, Listener listener, boolean isSharing,
            long deadline) {
        Mesh mesh = new Mesh(self, listener, deadline);
        List<TimedChannel> open = new ArrayList<>();
        boolean isStarted = false;
        try (listener) {
            for (int rank = 0; rank < self.ranks(); rank++) {
                for (int purpose = Handshake.CONTROL; purpose <= Handshake.DATA && rank != self.rank(); purpose++) {
                    TimedChannel channel = rank < self.rank()
                            ? connect(self, rank, addresses.get(rank), purpose, deadline)
                            : mesh.arrival(rank, purpose);
                    open.add(channel);
                    mesh.channels[purpose - 1][rank] = channel;
                }
            }
            mesh.share(addresses, isSharing);
            mesh.ready();
            Transport transport = Transport.start(self, mesh.channels[0], mesh.channels[1], mesh.shared);
            isStarted = true;
            return transport;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            open.forEach(Listener::drop);
            throw new CommunicationException("rank " + self.rank() + " was interrupted while it joined", self.rank(),
                    e);
        } catch (IOException e) {
            open.forEach(Listener::drop);
            throw new CommunicationException(Handshake.describe(self) + " could not join: " + e.getMessage(),
                    CommunicationException.NO_RANK, e);
        } catch (RuntimeException e) {
            open.forEach(Listener::drop);
            throw e;
        } finally {
            for (SharedMemory each : mesh.shared) {
                if (!isStarted && each != null) {
                    each.drop();
                }
            }
        }
    }

    private TimedChannel arrival(int rank, int purpose) throws InterruptedException {
        TimedChannel channel = listener.take(rank, purpose, deadline);
        if (channel == null) {
            throw new CommunicationException("rank " + rank + " did not connect to rank " + self.rank()
                    + " within the time limit for joining" + listener.refusals(), rank, null);
        }
        return channel;
    }

    /**
     * Connects to a rank, and tries again until the deadline if it does not listen yet.
     *
     * @param self
     *            this rank
     * @param rank
     *            the other
     * @param address
     *            of the other
     * @param purpose
     *            of the connection
     * @param deadline
     *            of {@link System#nanoTime}
     * @return the connection
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    static TimedChannel connect(Member self, int rank, String address, int purpose, long deadline)
            throws InterruptedException {
        long pause = FIRST_PAUSE;
        IOException failure = null;
        while (true) {
            TimedChannel channel = null;
            try {
                SocketAddress parsed = Addresses.parse(address);
                channel = TimedChannel.connect(parsed, deadline);
                if (self.tls() != null && parsed instanceof InetSocketAddress internet) {
                    channel.connectTls(self.tls(), Addresses.host(address), internet.getPort(), deadline);
                }
                Handshake.connect(channel, self, rank, purpose, deadline);
                return channel;
            } catch (SSLException e) {
                // Trying again would not change it.
                Listener.drop(Objects.requireNonNull(channel));
                throw new CommunicationException("rank " + self.rank() + " cannot connect to rank " + rank + " at "
                        + address + ": " + TlsFailure.explain(e, "rank " + rank, Addresses.host(address)), rank, e);
            } catch (IOException e) {
                // An attempt that the limit has cut short says less than the one before it.
                failure = failure == null || !(e instanceof SocketTimeoutException) ? e : failure;
                if (channel != null) {
                    Listener.drop(channel);
                }
            } catch (RuntimeException e) {
                if (channel != null) {
                    Listener.drop(channel);
                }
                throw e;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (deadline - System.nanoTime() <= TimeUnit.MILLISECONDS.toNanos(pause)) {
                throw new CommunicationException("rank " + self.rank() + " cannot connect to rank " + rank + " at "
                        + address + " within the time limit for joining: " + failure.getMessage(), rank, failure);
            }
            // The other process may not listen yet.
            Thread.sleep(pause);
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
    }

    /**
     * Shares memory with each rank on the other end of a Unix-domain socket, if both want to. All offers are made
     * before any is waited for.
     */
    private void share(List<String> addresses, boolean isSharing) {
        for (int rank = self.rank() + 1; rank < self.ranks() && isUnix(addresses.get(self.rank())); rank++) {
            int peer = rank;
            exchange(rank, () -> shared[peer] = SharedMemory.offer(data(peer), isSharing, deadline));
        }
        for (int rank = 0; rank < self.rank(); rank++) {
            int peer = rank;
            if (isUnix(addresses.get(rank))) {
                exchange(rank, () -> shared[peer] = SharedMemory.take(data(peer), isSharing, deadline));
            }
        }
        for (int rank = self.rank() + 1; rank < self.ranks(); rank++) {
            SharedMemory offered = shared[rank];
            int peer = rank;
            if (offered != null) {
                shared[rank] = null;
                exchange(rank, () -> shared[peer] = offered.isTaken(data(peer), deadline) ? offered : null);
            }
        }
    }

    private TimedChannel data(int rank) {
        return Objects.requireNonNull(channels[Handshake.DATA - 1][rank]);
    }

    private static boolean isUnix(String address) {
        return address.startsWith(Addresses.UNIX);
    }

    /**
     * Heartbeats begin when all ranks are connected: before, a rank may wait for others as long as the limit allows.
     */
    private void ready() {
        for (int rank = 0; rank < self.ranks(); rank++) {
            TimedChannel channel = channels[0][rank];
            if (channel != null) {
                exchange(rank, () -> channel
                        .write(ControlFrame.of(ControlFrame.Kind.READY).encode(self), deadline));
            }
        }
        for (int rank = 0; rank < self.ranks(); rank++) {
            TimedChannel channel = channels[0][rank];
            if (channel != null) {
                int peer = rank;
                exchange(rank, () -> {
                    ByteBuffer frame = channel.read(ControlFrame.BYTES, deadline);
                    if (ControlFrame.decode(frame, self, peer).kind() != ControlFrame.Kind.READY) {
                        throw new ProtocolException("rank " + peer + " is not ready");
                    }
                });
            }
        }
    }

    /** One step with one peer. */
    private interface Step {
        void run() throws IOException;
    }

    private void exchange(int rank, Step step) {
        try {
            step.run();
        } catch (InterruptedOperationException e) {
            throw new CommunicationException("rank " + self.rank() + " was interrupted while it joined", self.rank(),
                    e);
        } catch (IOException e) {
            throw new CommunicationException("rank " + rank + " ended before all ranks had joined ("
                    + e.getMessage() + ")", rank, e);
        }
    }
}

package io.seriatim.cluster.transport;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Accepts the connections of peers. Each handshake runs on a thread of its own with a time limit, so that a stranger
 * who says nothing keeps nobody waiting; the number of handshakes at a time is limited.
 */
public final class Listener implements Closeable {
    private static final System.Logger LOG = System.getLogger(Listener.class.getName());
    private static final int STRANGERS = 64;
    private static final int REASONS = 8;
    /** Milliseconds until it tries again what may succeed later. */
    private static final long PAUSE = 20;
    /** How long to wait for an address that is in use. */
    private static final Duration IN_USE = Duration.ofSeconds(5);

    private final Member self;
    private final ServerSocketChannel server;
    private final Duration limit;
    private final Semaphore handshakes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    @GuardedBy("lock")
    private final Map<Handshake.Peer, @Nullable TimedChannel> arrived = new HashMap<>();
    @GuardedBy("lock")
    private final List<String> refused = new ArrayList<>();
    @GuardedBy("lock")
    private boolean closed;

    private Listener(Member self, ServerSocketChannel server, Duration limit) {
        this.self = self;
        this.server = server;
        this.limit = limit;
        handshakes = new Semaphore(STRANGERS + 2 * self.ranks());
    }

    /**
     * Opens a socket and accepts connections.
     *
     * @param self
     *            this rank
     * @param address
     *            where to listen; port 0 is any free one
     * @param handshake
     *            how long a connection has to prove itself
     * @param deadline
     *            of {@link System#nanoTime}
     * @return open
     * @throws IOException
     *             if the address cannot be listened at
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    public static Listener open(Member self, SocketAddress address, Duration handshake, long deadline)
            throws IOException, InterruptedException {
        // An outgoing connection of anyone may hold the port for a moment; an earlier attempt of the job may be ending.
        long end = System.nanoTime() + Math.min(IN_USE.toNanos(), deadline - System.nanoTime());
        while (true) {
            try {
                Listener listener = new Listener(self, bound(self, address), handshake);
                start("accept", self, listener::accept);
                return listener;
            } catch (IOException e) {
                // A BindException also says that the address is none of this machine, or not permitted.
                if (!(e instanceof BindException) || !String.valueOf(e.getMessage()).contains("in use")
                        || end - System.nanoTime() <= TimeUnit.MILLISECONDS.toNanos(PAUSE)) {
                    throw new IOException("rank " + self.rank() + " cannot listen at " + Addresses.format(address)
                            + ": " + e.getMessage(), e);
                }
            }
            Thread.sleep(PAUSE);
        }
    }

    private static ServerSocketChannel bound(Member self, SocketAddress address) throws IOException {
        ServerSocketChannel server = address instanceof UnixDomainSocketAddress
                ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                : ServerSocketChannel.open();
        try {
            return server.bind(address, Math.max(STRANGERS, 2 * self.ranks()));
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    static Thread start(String name, Member self, Runnable body) {
        return Thread.ofPlatform().daemon().name("seriatim-rank-" + self.rank() + "-" + name).start(body);
    }

    /**
     * Where it listens.
     *
     * @return the address as text, with the port
     */
    public String address() {
        try {
            return Addresses.format(server.getLocalAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept() {
        while (true) {
            SocketChannel channel;
            try {
                channel = server.accept();
            } catch (ClosedChannelException _) {
                return;
            } catch (IOException e) {
                // Others may still come: the peer has gone, or this process has too many open files for now.
                refuse("a connection could not be accepted: " + e);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE));
                continue;
            }
            if (handshakes.tryAcquire()) {
                start("handshake", self, () -> handshake(channel));
            } else {
                refuse("there were too many connections at a time");
                drop(channel);
            }
        }
    }

    private void handshake(SocketChannel accepted) {
        TimedChannel channel = null;
        Handshake.Peer peer = null;
        try {
            channel = new TimedChannel(accepted);
            List<Handshake.Peer> admitted = new ArrayList<>();
            try {
                long deadline = System.nanoTime() + limit.toNanos();
                if (self.tls() != null) {
                    channel.acceptTls(self.tls(), deadline);
                }
                peer = Handshake.accept(channel, self, candidate -> reserve(candidate, admitted), deadline);
            } catch (IOException | RuntimeException e) {
                admitted.forEach(this::withdraw);
                throw e;
            }
        } catch (SSLException e) {
            refuse(TlsFailure.explain(e, "the other side", null));
        } catch (IOException | RuntimeException e) {
            refuse(e.getMessage() == null ? e.toString() : e.getMessage());
        } finally {
            handshakes.release();
        }
        if (peer == null || !deliver(peer, channel)) {
            drop(channel == null ? accepted : channel);
        }
    }

    private boolean reserve(Handshake.Peer peer, List<Handshake.Peer> admitted) {
        lock.lock();
        try {
            if (closed || arrived.containsKey(peer)) {
                return false;
            }
            arrived.put(peer, null);
            admitted.add(peer);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void withdraw(Handshake.Peer peer) {
        lock.lock();
        try {
            arrived.remove(peer);
        } finally {
            lock.unlock();
        }
    }

    private boolean deliver(Handshake.Peer peer, @Nullable TimedChannel channel) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            arrived.put(peer, channel);
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void refuse(String reason) {
        LOG.log(Level.WARNING, "rank {0} dropped a connection: {1}", self.rank(), reason);
        lock.lock();
        try {
            if (refused.size() < REASONS) {
                refused.add(reason);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a connection and hands it over; null at the deadline. */
    @Nullable
    TimedChannel take(int rank, int purpose, long deadline) throws InterruptedException {
        Handshake.Peer peer = new Handshake.Peer(rank, purpose);
        lock.lockInterruptibly();
        try {
            while (true) {
                TimedChannel channel = arrived.get(peer);
                if (channel != null) {
                    // The key stays: a second connection of the rank is refused.
                    arrived.put(peer, null);
                    return channel;
                }
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return null;
                }
                changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /** What is known about connections that were dropped, for messages; empty if there were none. */
    String refusals() {
        lock.lock();
        try {
            return refused.isEmpty() ? "" : "; connections were dropped because " + String.join(", because ", refused);
        } finally {
            lock.unlock();
        }
    }

    static void drop(Closeable channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "a dropped connection could not be closed", e);
        }
    }

    @Override
    public void close() throws IOException {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            arrived.values().forEach(channel -> {
                if (channel != null) {
                    drop(channel);
                }
            });
        } finally {
            lock.unlock();
        }
        SocketAddress address = server.getLocalAddress();
        server.close();
        if (address instanceof UnixDomainSocketAddress unix) {
            Files.deleteIfExists(unix.getPath());
        }
    }
}

package io.seriatim.benchmarks.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A network with limited bandwidth and a delay between the ranks of this machine: TCP proxies, one for each pair of a
 * rank that connects and one that listens.
 *
 * <p>
 * Each rank has a network interface, which sends and receives so many bytes a second over all of its connections, in
 * both directions at once. A switch without limits of its own connects the interfaces. A piece of data leaves when the
 * interface of its sender is free, enters when that of its receiver is, and arrives after the delay. What a connection
 * has not sent yet stays in the sender's socket, so that the sender blocks as on a real network.
 */
final class EmulatedNetwork implements AutoCloseable {
    /** No limits. */
    static final Limits NONE = new Limits(Double.POSITIVE_INFINITY, 0);

    private static final int PIECE = 16 << 10;
    /** Threads wake up late by some ten microseconds; an interface makes up for so much of it. */
    private static final long BURST_NANOS = 200_000;
    /** Shorter waits are not worth a sleep. */
    private static final long LEAST_WAIT_NANOS = 50_000;

    private final long origin = System.nanoTime();
    /** When an interface has sent, or received, all that it was given. Guarded by this. */
    private final long[] sendingUntil;
    private final long[] receivingUntil;
    private Limits limits = NONE;
    private final List<ServerSocket> servers = new CopyOnWriteArrayList<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();

    /**
     * What all interfaces have in common.
     *
     * @param bytesPerSecond
     *            in each direction of an interface
     * @param delayNanos
     *            from one rank to another
     */
    record Limits(double bytesPerSecond, long delayNanos) {
        Limits {
            if (!(bytesPerSecond > 0) || delayNanos < 0) {
                throw new IllegalArgumentException("A network sends more than 0 bytes a second, with a delay of 0 or "
                        + "more, not " + bytesPerSecond + " bytes with " + delayNanos + " ns");
            }
        }
    }

    /** Data on its way. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Piece(byte[] bytes, int length, long due) {
    }

    /** What a thread does until its sockets are closed. */
    private interface Body {
        void run() throws IOException, InterruptedException;
    }

    EmulatedNetwork(int ranks) {
        sendingUntil = new long[ranks];
        receivingUntil = new long[ranks];
    }

    /** Sets the limits of what is sent from now on. */
    synchronized void limit(Limits value) {
        limits = value;
    }

    /**
     * Returns the addresses that a rank is told.
     *
     * @param rank
     *            which connects to them
     * @param real
     *            where all ranks listen, in their order
     * @return its own address, and proxies in place of the others
     */
    List<String> addresses(int rank, List<String> real) throws IOException {
        List<String> told = new ArrayList<>(real);
        for (int other = 0; other < real.size(); other++) {
            if (other != rank) {
                told.set(other, proxy(rank, other, real.get(other)));
            }
        }
        return told;
    }

    private String proxy(int from, int to, String address) throws IOException {
        int colon = address.lastIndexOf(':');
        InetSocketAddress real = new InetSocketAddress(address.substring(0, colon),
                Integer.parseInt(address.substring(colon + 1)));
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        servers.add(server);
        start(() -> accept(server, from, to, real));
        return "127.0.0.1:" + server.getLocalPort();
    }

    private void start(Body body) {
        Thread.ofPlatform().daemon().name("network").start(() -> {
            try {
                body.run();
            } catch (IOException e) {
                // One end has closed; the other one learns it, as it would without a proxy.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void accept(ServerSocket server, int from, int to, InetSocketAddress real) throws IOException {
        while (true) {
            Socket near = server.accept();
            Socket far = new Socket();
            sockets.addAll(Arrays.asList(near, far));
            near.setTcpNoDelay(true);
            far.setTcpNoDelay(true);
            try {
                far.connect(real);
            } catch (IOException e) {
                near.close();
                continue;
            }
            pump(near, far, from, to);
            pump(far, near, to, from);
        }
    }

    /** Takes data from one socket and passes it to another one when it is due. */
    private void pump(Socket source, Socket target, int from, int to) {
        LinkedBlockingQueue<Piece> onTheWay = new LinkedBlockingQueue<>();
        start(() -> {
            try (InputStream in = source.getInputStream()) {
                while (true) {
                    byte[] bytes = new byte[PIECE];
                    int length = in.read(bytes);
                    if (length < 0) {
                        onTheWay.add(new Piece(bytes, 0, now() + delay()));
                        return;
                    }
                    long sent = reserve(from, to, length);
                    onTheWay.add(new Piece(bytes, length, sent + delay()));
                    waitUntil(sent);
                }
            }
        });
        start(() -> {
            try (OutputStream out = target.getOutputStream(); source) {
                while (true) {
                    Piece next = onTheWay.take();
                    waitUntil(next.due());
                    if (next.length() == 0) {
                        return;
                    }
                    out.write(next.bytes(), 0, next.length());
                }
            }
        });
    }

    private long now() {
        return System.nanoTime() - origin;
    }

    private synchronized long delay() {
        return limits.delayNanos();
    }

    /** Reserves both interfaces, and returns when the receiver's has got the last byte, without the delay. */
    private synchronized long reserve(int from, int to, int bytes) {
        long takes = (long) (bytes / limits.bytesPerSecond() * 1e9);
        long sent = Math.max(now() - BURST_NANOS, sendingUntil[from]) + takes;
        sendingUntil[from] = sent;
        long received = Math.max(sent - takes, receivingUntil[to]) + takes;
        receivingUntil[to] = received;
        return received;
    }

    private void waitUntil(long time) {
        for (long left = time - now(); left > LEAST_WAIT_NANOS; left = time - now()) {
            LockSupport.parkNanos(this, left);
        }
    }

    @Override
    public void close() throws IOException {
        for (ServerSocket each : servers) {
            each.close();
        }
        for (Socket each : sockets) {
            each.close();
        }
    }
}

package io.seriatim.cluster;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Stands between a rank and those that connect to it, and knows nothing of what passes: it may be encrypted. */
final class Relay implements Closeable {
    /** What happens once a connection has passed so many bytes in one direction. */
    enum Kind {
        NOTHING, CLOSE, RESET, SWALLOW, BLOCK, FLIP, LOSE, DUPLICATE, NOISE, SLOW
    }

    private static final int PIECE = 1 << 10;

    private final ServerSocket server;
    private final String address;
    private final Kind kind;
    private final int connection;
    private final boolean isForward;
    private final long after;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicBoolean planted = new AtomicBoolean();

    Relay(String address, Kind kind, int connection, boolean isForward, long after) throws IOException {
        this.address = address;
        this.kind = kind;
        this.connection = connection;
        this.isForward = isForward;
        this.after = after;
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(() -> {
            while (true) {
                Socket client = server.accept();
                sockets.add(client);
                Socket onward = new Socket(InetAddress.getLoopbackAddress(),
                        Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
                sockets.add(onward);
                int number = connections.getAndIncrement();
                start(() -> pass(client, onward, number == connection && isForward));
                start(() -> pass(onward, client, number == connection && !isForward));
            }
        });
    }

    static Relay passing(String address) throws IOException {
        return new Relay(address, Kind.NOTHING, -1, true, 0);
    }

    String address() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    boolean hasPlanted() {
        return planted.get();
    }

    synchronized byte[] seen() {
        return seen.toByteArray();
    }

    private synchronized void see(byte[] bytes, int count) {
        seen.write(bytes, 0, count);
    }

    private interface Body {
        void run() throws IOException;
    }

    private static void start(Body body) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                body.run();
            } catch (IOException _) {
                // One end has closed; the other end learns it, as it would without a relay.
            }
        });
    }

    private void pass(Socket from, Socket to, boolean isFaulty) throws IOException {
        try {
            from.setTcpNoDelay(true);
            to.setTcpNoDelay(true);
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] piece = new byte[PIECE];
            long passed = 0;
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                see(piece, count);
                boolean isNow = isFaulty && passed + count > after;
                if (isNow && !planted.getAndSet(true)) {
                    plant(piece, count, in, out, from, to);
                } else {
                    out.write(piece, 0, count);
                }
                if (isNow && kind == Kind.SLOW) {
                    LockSupport.parkNanos(200_000);
                }
                passed += count;
            }
            to.shutdownOutput();
        } catch (IOException e) {
            from.close();
            to.close();
            throw e;
        }
    }

    private void plant(byte[] piece, int count, InputStream in, OutputStream out, Socket from, Socket to)
            throws IOException {
        int cut = new Random(after).nextInt(count);
        switch (kind) {
            case CLOSE -> {
                out.write(piece, 0, cut);
                throw new EOFException("as planned");
            }
            case RESET -> {
                from.setSoLinger(true, 0);
                to.setSoLinger(true, 0);
                throw new EOFException("as planned");
            }
            case SWALLOW -> {
                out.write(piece, 0, cut);
                in.transferTo(OutputStream.nullOutputStream());
            }
            case BLOCK -> {
                out.write(piece, 0, cut);
                LockSupport.park(this);
            }
            case FLIP -> {
                piece[cut] ^= 4;
                out.write(piece, 0, count);
            }
            case LOSE -> {
                out.write(piece, 0, cut);
                out.write(piece, cut + 1, count - cut - 1);
            }
            case NOISE -> {
                byte[] noise = new byte[1 + cut % 100];
                new Random(cut).nextBytes(noise);
                out.write(noise);
                out.write(piece, 0, count);
            }
            case DUPLICATE -> {
                out.write(piece, 0, count);
                out.write(piece, 0, count);
            }
            default -> out.write(piece, 0, count);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket each : sockets) {
            each.close();
        }
    }

    @Override
    public String toString() {
        return kind + " of connection " + connection + (isForward ? " to " : " from ") + address + " after " + after;
    }
}

package io.seriatim.cluster;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** Stands between a rank and those that connect to it, and plants one fault. It knows the sizes of all messages. */
final class FaultyProxy implements Closeable {
    private static final int HELLO = 72;
    private static final int HELLO_RANK = 24;
    private static final int HELLO_PURPOSE = 32;
    private static final int[] PROOF = {32};
    private static final int[] ANSWERS = {76, 36};
    private static final int CONTROL_FRAME = 512;
    private static final int HEAD = 48;
    private static final int HEAD_LENGTH = 40;
    private static final int TAIL = 16;
    private static final int PIECE = 1 << 10;

    private final int target;
    private final InetSocketAddress real;
    private final Fault fault;
    private final ServerSocket server;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();

    FaultyProxy(int target, String address, Fault fault) throws IOException {
        this.target = target;
        this.fault = fault;
        int colon = address.lastIndexOf(':');
        real = new InetSocketAddress(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    String address() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    /** A thread that ends when its sockets are closed. */
    private interface Body {
        void run() throws IOException;
    }

    private void start(Body body) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                body.run();
            } catch (IOException _) {
                // One end has closed; the other end learns it, as it would without a proxy.
            }
        });
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = server.accept();
            sockets.add(client);
            start(() -> connect(client));
        }
    }

    private void connect(Socket client) throws IOException {
        Socket onward = new Socket();
        sockets.add(onward);
        onward.connect(real);
        client.setTcpNoDelay(true);
        onward.setTcpNoDelay(true);
        DataInputStream in = new DataInputStream(client.getInputStream());
        byte[] hello = new byte[HELLO];
        in.readFully(hello);
        ByteBuffer fields = ByteBuffer.wrap(hello).order(ByteOrder.LITTLE_ENDIAN);
        int source = fields.getInt(HELLO_RANK);
        boolean isControl = fields.getInt(HELLO_PURPOSE) == 1;
        onward.getOutputStream().write(hello);
        start(() -> pump(onward, client, ANSWERS, target, source, isControl));
        pump(client, onward, PROOF, source, target, isControl);
    }

    private void pump(Socket from, Socket to, int[] handshake, int sender, int receiver, boolean isControl)
            throws IOException {
        try {
            DataInputStream in = new DataInputStream(from.getInputStream());
            OutputStream out = to.getOutputStream();
            for (int message : handshake) {
                out.write(in.readNBytes(message));
            }
            if (sender == fault.from() && receiver == fault.to() && isControl == fault.isControl()) {
                plant(in, out, from, to);
            }
            in.transferTo(out);
            to.shutdownOutput();
        } catch (IOException e) {
            from.close();
            to.close();
            throw e;
        }
    }

    private byte[] frame(DataInputStream in) throws IOException {
        if (fault.isControl()) {
            byte[] frame = new byte[CONTROL_FRAME];
            in.readFully(frame);
            return frame;
        }
        byte[] head = new byte[HEAD];
        in.readFully(head);
        int length = (int) ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getLong(HEAD_LENGTH);
        byte[] frame = Arrays.copyOf(head, HEAD + length + TAIL);
        in.readFully(frame, HEAD, length + TAIL);
        return frame;
    }

    private void plant(DataInputStream in, OutputStream out, Socket from, Socket to) throws IOException {
        for (int i = 0; i < fault.frame(); i++) {
            out.write(frame(in));
        }
        if (fault.kind() == Fault.Kind.SLOW) {
            trickle(in, out);
            return;
        }
        byte[] frame = frame(in);
        int cut = (int) (fault.position() * (frame.length - 1));
        ByteBuffer fields = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
        switch (fault.kind()) {
            case CLOSE -> {
                out.write(frame, 0, cut);
                throw new EOFException("as planned");
            }
            case RESET -> {
                out.write(frame, 0, cut);
                from.setSoLinger(true, 0);
                to.setSoLinger(true, 0);
                throw new EOFException("as planned");
            }
            case SWALLOW -> {
                out.write(frame, 0, cut);
                in.transferTo(OutputStream.nullOutputStream());
            }
            case BLOCK -> {
                out.write(frame, 0, cut);
                LockSupport.park(this);
            }
            // A frame of which nothing comes is omitted, which is harmless for heartbeats.
            case TRUNCATE -> out.write(frame, 0, Math.max(1, cut));
            case LOSE -> {
                int lost = Math.min(1 + cut % 64, frame.length - cut);
                out.write(frame, 0, cut);
                out.write(frame, cut + lost, frame.length - cut - lost);
            }
            case DUPLICATE -> {
                out.write(frame);
                out.write(frame);
            }
            case OMIT -> out.flush();
            case FLIP -> {
                int at = HEAD + (int) (fault.position() * (frame.length - HEAD - 1));
                frame[at] ^= (byte) (1 << at % Byte.SIZE);
                out.write(frame);
            }
            case OTHER_JOB -> out.write(fields.putLong(8, fields.getLong(8) + 1).array());
            case OTHER_GENERATION -> {
                int at = fault.isControl() ? 16 : 4;
                out.write(fields.putInt(at, fields.getInt(at) + 1).array());
            }
            case OTHER_RANK -> {
                int at = fault.isControl() ? 20 : 28;
                out.write(fields.putInt(at, fields.getInt(at) + 1).array());
            }
            case LENGTH -> out.write(fault.isControl()
                    ? fields.putInt(28, Integer.MAX_VALUE).array()
                    : fields.putLong(HEAD_LENGTH, Long.MAX_VALUE >> (int) (fault.position() * 60)).array());
            case SEQUENCE -> out.write(fields.putLong(16, fields.getLong(16) + 1).array());
            case NOISE -> {
                byte[] noise = new byte[1 + cut % 600];
                new Random(cut).nextBytes(noise);
                out.write(noise);
                out.write(frame);
            }
            default -> throw new IllegalStateException(fault.toString());
        }
    }

    private static void trickle(DataInputStream in, OutputStream out) throws IOException {
        byte[] piece = new byte[PIECE];
        while (true) {
            int count = in.read(piece);
            if (count < 0) {
                return;
            }
            out.write(piece, 0, count);
            LockSupport.parkNanos(200_000);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket each : sockets) {
            each.close();
        }
    }
}

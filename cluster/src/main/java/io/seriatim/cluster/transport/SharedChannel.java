package io.seriatim.cluster.transport;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * Bytes that go through memory which both processes have mapped. The socket between them carries no bytes of frames: a
 * byte in it wakes a side that waits, and its end is the end of the other process.
 */
final class SharedChannel implements PeerChannel {
    private static final int BELLS = 64;

    private final SocketChannel socket;
    private final Arena arena;
    private final SharedRing out;
    private final SharedRing in;
    private final ByteBuffer bell = ByteBuffer.allocateDirect(1);
    private final ByteBuffer heard = ByteBuffer.allocateDirect(BELLS);
    private boolean hasEnded;

    /**
     * A channel over memory.
     *
     * @param socket
     *            non-blocking; closed with this channel
     * @param arena
     *            of the memory; closed with this channel
     * @param out
     *            of this process to the other
     * @param in
     *            of the other process to this one
     * @param peer
     *            the rank of the other process
     */
    SharedChannel(SocketChannel socket, Arena arena, MemorySegment out, MemorySegment in, int peer) {
        this.socket = socket;
        this.arena = arena;
        this.out = new SharedRing(out, peer);
        this.in = new SharedRing(in, peer);
    }

    @Override
    public SocketChannel socket() {
        return socket;
    }

    @Override
    public long read(ByteBuffer[] into, int from, int count) throws IOException {
        // The peer may have written, and then ended.
        boolean isLast = hasEnded;
        long total = 0;
        for (int i = from; i < from + count && (i == from || !into[i - 1].hasRemaining()); i++) {
            while (into[i].hasRemaining() && in.available() > 0) {
                total += in.take(into[i]);
                if (in.publishTaken()) {
                    ring();
                }
            }
        }
        return total == 0 && isLast ? -1 : total;
    }

    @Override
    public ByteBuffer arrived() throws IOException {
        return in.next();
    }

    @Override
    public void skip(int count) throws IOException {
        in.skip(count);
        if (in.publishTaken()) {
            ring();
        }
    }

    @Override
    public long write(ByteBuffer[] bytes, int from, int count) throws IOException {
        if (hasEnded) {
            throw new EOFException("its connection was closed");
        }
        long total = 0;
        for (int i = from; i < from + count && (i == from || !bytes[i - 1].hasRemaining()); i++) {
            while (bytes[i].hasRemaining() && out.free() > 0) {
                total += out.put(bytes[i]);
                if (out.publishWritten()) {
                    ring();
                }
            }
        }
        return total;
    }

    /** Wakes the peer. A socket that takes no byte is full of them. */
    private void ring() throws IOException {
        socket.write(bell.clear());
    }

    @Override
    public boolean flush() {
        return true;
    }

    @Override
    public int interest(boolean isReading, boolean isWriting) throws IOException {
        boolean mayWait = (!isReading || in.mayWaitForBytes()) && (!isWriting || out.mayWaitForSpace());
        return mayWait && !hasEnded ? SelectionKey.OP_READ : NO_WAIT;
    }

    @Override
    public void woken() throws IOException {
        int count = socket.read(heard.clear());
        while (count == BELLS) {
            count = socket.read(heard.clear());
        }
        hasEnded = count < 0;
    }

    @Override
    public void close() throws IOException {
        try {
            socket.close();
        } finally {
            arena.close();
        }
    }
}

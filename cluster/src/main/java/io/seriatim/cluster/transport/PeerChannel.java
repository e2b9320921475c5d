package io.seriatim.cluster.transport;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * The bytes of a connection, without blocking, as they are or encrypted. One thread at a time uses it. It may have read
 * more from its socket than it has given: a reader that waits for the socket has read 0 bytes before.
 */
interface PeerChannel extends Closeable {
    /** No bytes. */
    ByteBuffer NONE = ByteBuffer.allocateDirect(0);

    /** The socket, for selectors. */
    SocketChannel socket();

    /** Reads into buffers in turn; 0 if nothing is there, −1 at the end. */
    long read(ByteBuffer[] into, int from, int count) throws IOException;

    /** Takes bytes of buffers in turn; what it has taken may still have to be {@linkplain #flush flushed}. */
    long write(ByteBuffer[] bytes, int from, int count) throws IOException;

    /** Gives taken bytes to the socket; false if it does not take all of them now. */
    boolean flush() throws IOException;

    /** What {@link #interest} says if there is something to do at once. */
    int NO_WAIT = -1;

    /**
     * What to wait for in the socket before reading or writing again, as an interest of a {@link SelectionKey}, or
     * {@link #NO_WAIT}.
     */
    default int interest(boolean isReading, boolean isWriting) throws IOException {
        return (isReading ? SelectionKey.OP_READ : 0) | (isWriting ? SelectionKey.OP_WRITE : 0);
    }

    /** Looks at the socket after waiting. */
    default void woken() throws IOException {
    }

    /**
     * Bytes that have arrived and can be used where they are, until they are {@linkplain #skip skipped}. Empty if there
     * are none, or if they must be {@linkplain #read read}.
     */
    default ByteBuffer arrived() throws IOException {
        return NONE;
    }

    /** Goes on behind so many bytes of those that have {@link #arrived}. */
    default void skip(int count) throws IOException {
        throw new IllegalStateException(count + " bytes have not arrived in memory");
    }

    default long read(ByteBuffer into) throws IOException {
        return read(new ByteBuffer[]{into}, 0, 1);
    }

    default long write(ByteBuffer bytes) throws IOException {
        return write(new ByteBuffer[]{bytes}, 0, 1);
    }

    /** Bytes as they are. */
    record Plain(SocketChannel socket) implements PeerChannel {
        @Override
        public long read(ByteBuffer[] into, int from, int count) throws IOException {
            return socket.read(into, from, count);
        }

        @Override
        public long write(ByteBuffer[] bytes, int from, int count) throws IOException {
            return socket.write(bytes, from, count);
        }

        @Override
        public boolean flush() {
            return true;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}

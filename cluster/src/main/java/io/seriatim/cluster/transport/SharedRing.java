package io.seriatim.cluster.transport;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * The bytes of one direction between two processes, in memory that both have mapped: one process only writes, the other
 * only reads. Positions count all bytes since the beginning.
 *
 * <pre>
 *    0  long  written   by the writer
 *  128  long  taken     by the reader
 *  256  int   1 while the reader waits for bytes: the writer sets it to 0 and wakes it
 *  384  int   1 while the writer waits for space: the reader sets it to 0 and wakes it
 *  512  the bytes, {@link #CAPACITY}
 * </pre>
 *
 * A side that is going to wait first says so and then looks again, and the other side first publishes and then looks
 * whether somebody waits: with accesses in one total order (volatile), at least one of the two sees the other.
 */
final class SharedRing {
    /** Bytes that may be under way: both directions fit into the second-level cache of most processors. */
    static final int CAPACITY = 512 << 10;

    private static final int WRITTEN = 0;
    private static final int TAKEN = 128;
    private static final int READER_WAITS = 256;
    private static final int WRITER_WAITS = 384;
    private static final int HEAD = 512;
    /** The size in memory. */
    static final int BYTES = HEAD + CAPACITY;

    /** Bytes that are published at a time, so that the peer works at the same time. */
    private static final int PORTION = 64 << 10;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final int peer;
    /** The position of the side that uses this object. */
    private long position;
    /** The position of the other side when it was last looked at. */
    private long seen;

    /**
     * A side of a ring.
     *
     * @param memory
     *            of {@link #BYTES}, filled with zeros by the one who made it
     * @param peer
     *            the rank of the other side
     */
    SharedRing(MemorySegment memory, int peer) {
        this.memory = memory;
        this.peer = peer;
        bytes = memory.asSlice(HEAD, CAPACITY).asByteBuffer();
    }

    /** Looks at the other side's position, which is not believed. */
    private long look(int where, long least, long most) throws ProtocolException {
        long there = (long) LONG.getVolatile(memory, (long) where);
        if (there < least || there > most) {
            throw new ProtocolException("rank " + peer + " has written nonsense into the memory that it shares: "
                    + "position " + there + ", where " + least + " to " + most + " are possible");
        }
        return there;
    }

    /** Bytes that the reader can take. */
    int available() throws ProtocolException {
        if (seen == position) {
            seen = look(WRITTEN, position, position + CAPACITY);
        }
        return (int) (seen - position);
    }

    /** Bytes that the writer can put. */
    int free() throws ProtocolException {
        if (position - seen == CAPACITY) {
            seen = look(TAKEN, position - CAPACITY, position);
        }
        return (int) (CAPACITY - (position - seen));
    }

    /** Puts bytes of a buffer, as many as there is space for, at most a portion. */
    int put(ByteBuffer from) throws ProtocolException {
        int count = Math.min(Math.min(free(), from.remaining()), PORTION);
        int at = (int) (position % CAPACITY);
        int first = Math.min(count, CAPACITY - at);
        bytes.put(at, from, from.position(), first);
        bytes.put(0, from, from.position() + first, count - first);
        from.position(from.position() + count);
        position += count;
        return count;
    }

    /** Makes what was put visible; true if the reader must be woken. */
    boolean publishWritten() {
        LONG.setVolatile(memory, (long) WRITTEN, position);
        return wakes(READER_WAITS);
    }

    /** Takes bytes into a buffer, as many as are there. */
    int take(ByteBuffer into) throws ProtocolException {
        int count = Math.min(Math.min(available(), into.remaining()), PORTION);
        int at = (int) (position % CAPACITY);
        int first = Math.min(count, CAPACITY - at);
        into.put(into.position(), bytes, at, first);
        into.put(into.position() + first, bytes, 0, count - first);
        into.position(into.position() + count);
        position += count;
        return count;
    }

    /** The next bytes that lie one behind the other, at most a portion. */
    ByteBuffer next() throws ProtocolException {
        int at = (int) (position % CAPACITY);
        return bytes.slice(at, Math.min(Math.min(available(), CAPACITY - at), PORTION));
    }

    /** Takes bytes that were used where they are. */
    void skip(int count) {
        position += count;
    }

    /** Makes the space of what was taken free; true if the writer must be woken. */
    boolean publishTaken() {
        LONG.setVolatile(memory, (long) TAKEN, position);
        return wakes(WRITER_WAITS);
    }

    private boolean wakes(int flag) {
        return (int) INT.getVolatile(memory, (long) flag) != 0
                && (int) INT.getAndSet(memory, (long) flag, 0) != 0;
    }

    /** Says that the reader is going to wait; false if bytes have come. */
    boolean mayWaitForBytes() throws ProtocolException {
        INT.setVolatile(memory, (long) READER_WAITS, 1);
        return available() == 0;
    }

    /** Says that the writer is going to wait; false if space has become free. */
    boolean mayWaitForSpace() throws ProtocolException {
        INT.setVolatile(memory, (long) WRITER_WAITS, 1);
        return free() == 0;
    }
}

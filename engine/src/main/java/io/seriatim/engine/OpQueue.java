package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A single-producer, single-consumer queue: the holder of the push lock appends, the holder of the tracker lock takes.
 * A slot is published by a release store and read by an acquire load; an empty slot is the end of the queue.
 */
final class OpQueue {
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Operation[].class);
    private static final int CHUNK = 128;

    /** A segment of the queue. */
    private static final class Chunk {
        final @Nullable Operation[] slots = new Operation[CHUNK];
        volatile @Nullable Chunk next;
    }

    /**
     * One end of the queue: a chunk and an index in it. Padded, because another processor writes the other end. Guarded
     * by the push lock at the tail, and by the tracker lock at the head.
     */
    private static final class End extends Padding.Before {
        Chunk chunk;
        int index;
        @SuppressWarnings("unused")
        private long p8, p9, p10, p11, p12, p13;

        End(Chunk chunk) {
            this.chunk = chunk;
        }
    }

    private final End tail;
    private final End head;

    OpQueue() {
        Chunk first = new Chunk();
        tail = new End(first);
        head = new End(first);
    }

    /**
     * Appends an operation; under the push lock. A single store appends it, and no later step can fail: if this method
     * throws, nothing was appended.
     */
    void append(Operation op) {
        End t = tail;
        int at = t.index;
        if (at == CHUNK) {
            Chunk fresh = new Chunk();
            fresh.slots[0] = op;
            t.chunk.next = fresh;
            t.chunk = fresh;
            t.index = 1;
        } else {
            SLOT.setRelease(t.chunk.slots, at, op);
            t.index = at + 1;
        }
    }

    /** Returns the first operation without removing it, or null; under the tracker lock. */
    @Nullable
    Operation peek() {
        End h = head;
        if (h.index == CHUNK) {
            Chunk following = h.chunk.next;
            if (following == null) {
                return null;
            }
            h.chunk = following;
            h.index = 0;
        }
        return (Operation) SLOT.getAcquire(h.chunk.slots, h.index);
    }

    /** Removes the operation that {@link #peek} returned; under the tracker lock. */
    void advance() {
        head.index++;
    }

    /** Removes and returns the first operation, or null; under the tracker lock. */
    @Nullable
    Operation poll() {
        Operation op = peek();
        if (op != null) {
            advance();
        }
        return op;
    }

    /**
     * Clears the references to removed operations that the current chunk still holds; under the tracker lock, before
     * its owner becomes idle.
     */
    void forget() {
        Arrays.fill(head.chunk.slots, 0, head.index, null);
    }
}

package io.seriatim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The operations in the one order in which they were pushed, until the tracker takes them in.
 *
 * <p>
 * Pushing threads append under {@link #lock}; the tracker takes from the other end under its role, without that lock. A slot is handed over by a release store and an
 * acquire load: an empty slot is the end of the log.
 */
final class PushLog {
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Operation[].class);
    private static final VarHandle PUSHED;
    private static final int CHUNK = 128;

    static {
        try {
            PUSHED = MethodHandles.lookup().findVarHandle(PushLog.class, "pushed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A piece of the log. */
    private static final class Chunk {
        final @Nullable Operation[] slots = new Operation[CHUNK];
        volatile @Nullable Chunk next;
    }

    /** Excludes pushing threads from each other, and guards whatever says so: who sleeps, what is deleted, whether the engine is closed. */
    final SpinLock lock = new SpinLock();

    // Guarded by the lock.
    private Chunk tail = new Chunk();
    private int tailIndex;
    private long pushed;

    // Owned by the tracker's role.
    private Chunk head = tail;
    private int headIndex;

    /** Appends an operation and gives it its place in the order; under the lock. */
    void append(Operation op) {
        op.order = pushed;
        if (tailIndex == CHUNK) {
            Chunk fresh = new Chunk();
            tail.next = fresh;
            tail = fresh;
            tailIndex = 0;
        }
        pushed++;
        SLOT.setRelease(tail.slots, tailIndex++, op);
    }

    /** How many operations were ever appended; under the lock. */
    long pushed() {
        return pushed;
    }

    /** How many operations were appended by this thread, or in a way that it knows of. */
    long pushedBefore() {
        return (long) PUSHED.getOpaque(this);
    }

    /** Looks at the next operation, or null; under the role. */
    @Nullable
    Operation peek() {
        if (headIndex == CHUNK) {
            Chunk following = head.next;
            if (following == null) {
                return null;
            }
            head = following;
            headIndex = 0;
        }
        return (Operation) SLOT.getAcquire(head.slots, headIndex);
    }

    /** Takes what {@link #peek} saw; under the role. */
    void advance() {
        headIndex++;
    }

    /** Drops the references to what was taken, which only the emptied end of a chunk still holds; under the role, before its owner goes idle. */
    void forget() {
        Arrays.fill(head.slots, 0, headIndex, null);
    }
}

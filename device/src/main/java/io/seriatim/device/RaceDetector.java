package io.seriatim.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.List;

/**
 * Detects unordered conflicting accesses to device memory with vector clocks.
 *
 * <p>
 * Every stream and every host thread is a party with a vector clock. A launch joins the launching thread's clock into
 * the stream's clock, ticks the stream's clock, and compares the work with earlier accesses to the same bytes: a
 * conflicting access that the stream's clock does not cover is a race. An event carries the clock of its stream at the
 * time of recording. A stream or thread that waits for the event joins that clock; a thread that observes a done event
 * counts as having waited.
 *
 * <p>
 * All of this happens under one lock when work is issued, never when it runs. So the result depends only on the calls
 * and their order, not on timing. There are no false positives: a stream executes in the order of issue, and every wait
 * adds an edge. The detector does not see synchronisation between host threads, such as a queue. A thread that learns
 * of another thread's work in that way makes its stream wait for the events of that work, which costs nothing once they
 * are done.
 *
 * <p>
 * The access history belongs to the block of memory, not to the buffer, so a premature reuse of freed memory is
 * detected as a race between the old and the new owner.
 */
final class RaceDetector {
    private final Object lock = new Object();
    private final ThreadLocal<Party> threads = ThreadLocal
            .withInitial(() -> newParty("the thread " + Thread.currentThread().getName()));
    @GuardedBy("lock")
    private int parties;

    /** A stream or a host thread. */
    static final class Party {
        final int id;
        final String name;
        final VectorClock clock = new VectorClock();

        Party(int id, String name) {
            this.id = id;
            this.name = name;
        }
    }

    Party newParty(String name) {
        synchronized (lock) {
            return new Party(parties++, name);
        }
    }

    /** Checks and records work that the calling thread launches on a stream. */
    void launch(Party stream, String operation, List<Access> accesses) {
        synchronized (lock) {
            stream.clock.join(threads.get().clock);
            stream.clock.tick(stream.id);
            // Check all accesses before recording any, because an operation does not race with itself.
            for (Access access : accesses) {
                history(access.buffer()).check(stream, operation, access.offset(), access.bytes(), access.write());
            }
            for (Access access : accesses) {
                history(access.buffer()).note(stream, operation, access.offset(), access.bytes(), access.write());
            }
        }
    }

    private AccessHistory history(Buffer buffer) {
        Block block = buffer.block();
        if (block.shadow instanceof AccessHistory history) {
            return history;
        }
        AccessHistory made = new AccessHistory(this, buffer);
        block.shadow = made;
        return made;
    }

    VectorClock record(Party stream) {
        synchronized (lock) {
            stream.clock.join(threads.get().clock);
            return stream.clock.copy();
        }
    }

    void waitFor(Party stream, VectorClock event) {
        synchronized (lock) {
            stream.clock.join(event);
        }
    }

    /** Records that the calling thread has observed a done event. */
    void observe(VectorClock event) {
        synchronized (lock) {
            threads.get().clock.join(event);
        }
    }

    void hostAccess(AccessHistory history, String operation, long offset, long bytes, boolean write) {
        synchronized (lock) {
            Party thread = threads.get();
            thread.clock.tick(thread.id);
            history.check(thread, operation, offset, bytes, write);
            history.note(thread, operation, offset, bytes, write);
        }
    }

    /** Checks an access without recording it, because the caller orders it with later work by other means. */
    void hostCheck(AccessHistory history, String operation, long offset, long bytes, boolean write) {
        synchronized (lock) {
            history.check(threads.get(), operation, offset, bytes, write);
        }
    }

    /** Forgets the accesses that happened before this call in the calling thread. */
    void settle(AccessHistory history) {
        synchronized (lock) {
            history.forget(threads.get());
        }
    }
}

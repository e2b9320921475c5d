package io.seriatim.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.List;

/**
 * Finds accesses that nothing orders.
 *
 * <p>
 * Every stream and every host thread is a party with a vector clock. Work that is launched joins the clock of the
 * thread that launches it, ticks its stream, and is compared with the earlier accesses to the same bytes: one that the
 * stream has not heard of is a race. An event carries the clock of its stream at the moment of recording; who waits for
 * it, stream or thread, joins that. A thread that sees an event done has waited for it.
 *
 * <p>
 * All of this happens when work is issued, under one lock, never when it runs. So what is found depends on the calls
 * and their order alone, not on timing. There are no false alarms: the stream executes in the order of issue, and an
 * edge is added for every wait that really happens. A launch on behalf of a thread that learned of another one's work
 * by means of its own, such as a queue, needs no edge here if it makes its stream wait for the events concerned, which
 * costs nothing once they are done.
 *
 * <p>
 * What is known of some bytes hangs on the block of memory, not on the buffer: an early reuse of freed memory is a race
 * between the old owner and the new.
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

    /** Work that the calling thread launches on a stream. */
    void launch(Party stream, String operation, List<Access> accesses) {
        synchronized (lock) {
            stream.clock.join(threads.get().clock);
            stream.clock.tick(stream.id);
            // All are checked before any is noted: one operation does not race with itself.
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

    /** The calling thread has seen an event done. */
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

    /** An access that is ordered with later work by other means than this thread's launches: it is not noted. */
    void hostCheck(AccessHistory history, String operation, long offset, long bytes, boolean write) {
        synchronized (lock) {
            history.check(threads.get(), operation, offset, bytes, write);
        }
    }

    /** Whoever gets the memory from this thread need not have heard of what this thread has. */
    void settle(AccessHistory history) {
        synchronized (lock) {
            history.forget(threads.get());
        }
    }
}

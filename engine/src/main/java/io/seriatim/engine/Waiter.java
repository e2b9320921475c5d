package io.seriatim.engine;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A waiting thread and its flag. The flag is set before the thread is unparked, and the thread reads it after each
 * park, so no wake-up is lost.
 */
final class Waiter {
    final Thread thread = Thread.currentThread();
    /** The waiter that is signalled together with this one, or null. */
    private final @Nullable Waiter forwardsTo;
    volatile boolean done;
    /** The failure of the awaited variable at the end of the wait; set before the flag. Published by {@code done}. */
    @Nullable
    Failure failure;
    /** The links in a {@link WaiterList}, and the epoch that the list belongs to; guarded by the owner of the list. */
    @Nullable
    Waiter next;
    @Nullable
    Waiter previous;
    boolean listed;
    @Nullable
    Epoch epoch;
    /**
     * The registration of this wait, if it was made inside an operation and is for the mutations of a variable; guarded
     * by the tracker lock.
     */
    @Nullable
    Wait inside;

    /** The next waiter to be woken when the tracker lock is released; guarded by that lock. */
    @Nullable
    Waiter woken;

    /** Creates a waiter of the calling thread. */
    Waiter() {
        this(null);
    }

    /** Creates a waiter that passes its signal on, because one waiter can be in one list only. */
    Waiter(@Nullable Waiter forwardsTo) {
        this.forwardsTo = forwardsTo;
    }

    void signal() {
        done = true;
        Waiter other = forwardsTo;
        if (other != null) {
            other.signal();
        } else {
            LockSupport.unpark(thread);
        }
    }
}

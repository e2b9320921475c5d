package io.seriatim.engine.dependency;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A waiting thread and its flag. The flag is set before the thread is unparked, and the thread reads it after each
 * park, so no wake-up is lost.
 */
public final class Waiter {
    final Thread thread = Thread.currentThread();
    public volatile boolean done;
    /** The failure of the awaited variable at the end of the wait; set before the flag. */
    @Nullable
    public Failure failure;
    /** The links in a {@link WaiterList}, and the epoch that the list belongs to; guarded by the owner of the list. */
    @Nullable
    Waiter next;
    @Nullable
    Waiter previous;
    boolean listed;
    @Nullable
    public Epoch epoch;
    /**
     * The registration of this wait, if it was made inside an operation and is for the mutations of a variable; guarded
     * by the tracker lock.
     */
    @Nullable
    public Wait inside;

    /** The next waiter to be woken when the tracker lock is released; guarded by that lock. */
    @Nullable
    public Waiter woken;

    public void signal() {
        done = true;
        LockSupport.unpark(thread);
    }
}

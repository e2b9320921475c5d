package io.seriatim.engine.dependency;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for one thing. The flag is set before the thread is unparked and looked at after each park, so no
 * wake-up is lost.
 */
public final class Waiter {
    final Thread thread = Thread.currentThread();
    public volatile boolean done;
    /** What the variable waited for carries when the wait ends; set before the flag. */
    @Nullable
    public Failure failure;
    /** Its place in a {@link WaiterList}, and the epoch whose list that is; owned by whoever guards the list. */
    @Nullable
    Waiter next;
    @Nullable
    Waiter previous;
    boolean listed;
    @Nullable
    public Epoch epoch;
    /** The wait inside an operation that this is, for a variable's mutations; guarded by the tracker lock. */
    @Nullable
    public Wait inside;

    /** The next of those to be woken when the tracker lock is released; owned by whoever holds it. */
    @Nullable
    public Waiter woken;

    public void signal() {
        done = true;
        LockSupport.unpark(thread);
    }
}

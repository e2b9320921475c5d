package io.seriatim.engine.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A lock for critical sections of a few dozen instructions: one compare-and-set acquires it, one store releases it. Not
 * reentrant. A thread that holds it must not block and must not call user code.
 *
 * <p>
 * <b>Errors in the critical section.</b> After an Error the stack may be exhausted, so that a call of {@link #unlock}
 * would fail too. A subclass then releases the lock by an assignment,
 * {@code catch (Throwable t) { held = 0; throw t; }}, and {@code unlock} is the last statement of the {@code try}. Only
 * subclasses can do that.
 *
 * <p>
 * A thread that finds the lock held spins, then yields, then parks briefly, because the operating system may have
 * preempted the holder.
 */
public class SpinLock extends Padding.Around {
    private static final VarHandle HELD;
    /** Whether the lock remembers its holder for assertions. */
    private static final boolean CHECKED = SpinLock.class.desiredAssertionStatus();
    private static final int SPINS = 100;
    private static final int YIELDS = 30;
    private static final long NAP_NANOS = 20_000;

    /**
     * The last thread that acquired the lock, if assertions are enabled. Guarded by this lock; any thread may read it
     * for assertions.
     */
    private @Nullable Thread holder;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(Padding.Held.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        // The first execution of each call site links it, which may need more stack than is left when the lock is used
        // later.
        SpinLock first = new SpinLock();
        first.lock();
        first.tryLock();
        first.unlock();
        first.tryLock();
        first.unlock();
    }

    public final void lock() {
        // No call may stand behind the compare-and-set, which it could leave with the lock held.
        Thread me = CHECKED ? Thread.currentThread() : null;
        if (!HELD.compareAndSet(this, 0, 1)) {
            contend();
        }
        if (CHECKED) {
            holder = me;
        }
    }

    public final boolean tryLock() {
        Thread me = CHECKED ? Thread.currentThread() : null;
        boolean acquired = (int) HELD.getOpaque(this) == 0 && HELD.compareAndSet(this, 0, 1);
        if (CHECKED && acquired) {
            holder = me;
        }
        return acquired;
    }

    /**
     * Returns whether the calling thread holds the lock. For assertions only: never false for the holder, but after a
     * release by assignment it may be true for a thread that held the lock before. ErrorProne does not know this lock,
     * so methods that change guarded state assert that it is held.
     */
    public final boolean isHeldByCurrentThread() {
        return held != 0 && Thread.currentThread().equals(holder);
    }

    public final void unlock() {
        if (CHECKED) {
            holder = null;
        }
        HELD.setRelease(this, 0);
    }

    private void contend() {
        for (int i = 0; !tryLock(); i++) {
            pause(this, i, SPINS);
        }
    }

    /**
     * Pauses between two tries: a processor's hint at first, then a yield, then a short nap, because the operating
     * system may have preempted the thread that is waited for.
     *
     * @param blocker
     *            what is waited for, for thread dumps
     * @param tries
     *            the number of pauses before this one
     * @param spins
     *            how many of them are hints
     */
    // The yield is only a hint: no caller depends on it.
    @SuppressWarnings("ThreadPriorityCheck")
    public static void pause(Object blocker, int tries, int spins) {
        if (tries < spins) {
            Thread.onSpinWait();
        } else if (tries < spins + YIELDS) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(blocker, NAP_NANOS);
        }
    }
}

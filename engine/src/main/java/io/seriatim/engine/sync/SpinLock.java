package io.seriatim.engine.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Mutual exclusion for a few dozen instructions: one compare-and-set to take, one store to give back. Not reentrant.
 * Nothing that blocks, and no caller's code, may run under it.
 *
 * <p>
 * <b>When an Error comes out of what runs under it</b>, the stack may be at its end, where a call of {@link #unlock}
 * fails too. So it is given back there by a plain assignment: {@code catch (Throwable t) { lock.held = 0; throw t; }},
 * with {@code unlock} as the last statement of the {@code try}.
 *
 * <p>
 * Who meets it held spins, then yields, then parks briefly, because the holder may have lost its processor.
 */
public final class SpinLock extends Padding.Around {
    private static final VarHandle HELD;
    private static final int SPINS = 100;
    private static final int YIELDS = 30;
    private static final long NAP_NANOS = 20_000;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(Padding.Held.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        // The first call at each place links it, which takes more of the stack than may be left where the lock is
        // needed.
        SpinLock first = new SpinLock();
        first.lock();
        first.tryLock();
        first.unlock();
        first.tryLock();
        first.unlock();
    }

    public void lock() {
        if (!HELD.compareAndSet(this, 0, 1)) {
            contend();
        }
    }

    public boolean tryLock() {
        return (int) HELD.getOpaque(this) == 0 && HELD.compareAndSet(this, 0, 1);
    }

    public void unlock() {
        HELD.setRelease(this, 0);
    }

    // A yield is a hint here: the lock is taken by compare-and-set all the same.
    @SuppressWarnings("ThreadPriorityCheck")
    private void contend() {
        for (int i = 0;; i++) {
            if (tryLock()) {
                return;
            }
            if (i < SPINS) {
                Thread.onSpinWait();
            } else if (i < SPINS + YIELDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(this, NAP_NANOS);
            }
        }
    }
}

package io.seriatim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** How far an engine has come. Written by whoever holds the tracker's role at every operation, so kept apart from what pushing threads read at every push. */
// Some fields are read through their handles only.
@SuppressWarnings("UnusedVariable")
final class Counts extends Padding.Before {
    private static final VarHandle COMPLETED;
    private static final VarHandle ENDED_BELOW;
    private static final VarHandle PRESSING;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(Counts.class, "completed", long.class);
            ENDED_BELOW = MethodHandles.lookup().findVarHandle(Counts.class, "endedBelow", long.class);
            PRESSING = MethodHandles.lookup().findVarHandle(Counts.class, "pressing", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** How much of the log was taken in. */
    long position;
    /** Operations taken in before their turn, and not yet passed. */
    long early;
    long failed;
    long skipped;
    long cancelled;
    private long completed;
    private long endedBelow;
    /** Written under the push lock. */
    private long pressing;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    /** Another operation has ended. */
    void complete() {
        long c = completed + 1;
        COMPLETED.setRelease(this, c);
        if (c == position + early) {
            ENDED_BELOW.setRelease(this, position);
        }
    }

    /** Operations that have ended. */
    long completed() {
        return (long) COMPLETED.getAcquire(this);
    }

    /** All operations of a lower order have ended; others may have too. */
    long endedBelow() {
        return (long) ENDED_BELOW.getAcquire(this);
    }

    /** An operation was pushed whose priority is not the default; under the push lock. */
    void press(long end) {
        PRESSING.setOpaque(this, end);
    }

    /** Whether the log holds operations that may go before others. */
    boolean isPressed() {
        return position < (long) PRESSING.getOpaque(this);
    }

    /** Operations that were taken in and have not ended. */
    long pending() {
        return position + early - completed;
    }
}

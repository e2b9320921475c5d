package io.seriatim.engine.log;

import io.seriatim.engine.sync.Padding;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How far an engine has come. Written by whoever holds the tracker lock at every operation, so kept apart from what
 * pushing threads read at every push.
 */
// Some fields are read through their handles only.
@SuppressWarnings("UnusedVariable")
public final class Counts extends Padding.Before {
    private static final VarHandle COMPLETED;
    private static final VarHandle ENDED_BELOW;
    private static final VarHandle PRESSING;
    private static final VarHandle OFF_MAIN_PUSHED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(Counts.class, "completed", long.class);
            ENDED_BELOW = MethodHandles.lookup().findVarHandle(Counts.class, "endedBelow", long.class);
            PRESSING = MethodHandles.lookup().findVarHandle(Counts.class, "pressing", long.class);
            OFF_MAIN_PUSHED = MethodHandles.lookup().findVarHandle(Counts.class, "offMainPushed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** How much of the log was taken in. */
    public long position;
    /** Operations taken in before their turn, and not yet passed. */
    public long early;
    public long failed;
    public long skipped;
    public long cancelled;
    private long completed;
    private long endedBelow;
    /** Written under the push lock. */
    private long pressing;
    /** Operations for other lanes than the main one that were pushed; written under the push lock. */
    private long offMainPushed;
    /** Those of them whose push has failed after it was counted; written under the push lock. */
    long offMainAbandoned;
    /** Those of them that have become ready. */
    private long offMainReady;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    /**
     * Nothing was pushed yet.
     *
     * @param first
     *            the order of the first operation
     */
    public Counts(long first) {
        position = first;
        completed = first;
        endedBelow = first;
        pressing = first;
    }

    /** Another operation has ended. */
    public void complete() {
        long c = completed + 1;
        COMPLETED.setRelease(this, c);
        if (c == position + early) {
            ENDED_BELOW.setRelease(this, position);
        }
    }

    /** Operations that have ended. */
    public long completed() {
        return (long) COMPLETED.getAcquire(this);
    }

    /** All operations of a lower order have ended; others may have too. */
    long endedBelow() {
        return (long) ENDED_BELOW.getAcquire(this);
    }

    /**
     * An operation was pushed whose priority is not the default; under the push lock. A volatile store: the pusher
     * looks next whether {@link Attention} is wanted already, and a thread that has dismissed it looks here.
     */
    void press(long end) {
        PRESSING.setVolatile(this, end);
    }

    /**
     * An operation was pushed that is not for the main lane; under the push lock. A volatile store for the same reason.
     */
    void offMainPushed() {
        OFF_MAIN_PUSHED.setVolatile(this, offMainPushed + 1);
    }

    /** An operation that is not for the main lane has become ready: it stands in its own lane's queue now, or ends. */
    public void offMainReady() {
        offMainReady++;
    }

    /** Whether operations that are not for the main lane stand in the log or wait for their variables. */
    public boolean hasOffMain() {
        return (long) OFF_MAIN_PUSHED.getOpaque(this) - offMainAbandoned != offMainReady;
    }

    /** Whether the log holds operations that may go before others. */
    public boolean isPressed() {
        return position < (long) PRESSING.getOpaque(this);
    }

    /** Operations that were taken in. */
    public long admitted() {
        return position + early;
    }

    /** Those of them that have not ended. */
    public long pending() {
        return admitted() - completed;
    }
}

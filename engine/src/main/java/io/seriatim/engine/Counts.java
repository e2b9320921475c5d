package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Progress counters of an engine. The holder of the tracker lock writes them at every operation, so they are kept apart
 * from fields that pushing threads read at every push.
 */
// Some fields are accessed through their handles only.
@SuppressWarnings("UnusedVariable")
final class Counts extends Padding.Before {
    private static final VarHandle COMPLETED;
    private static final VarHandle ENDED_BELOW;
    private static final VarHandle PRIORITIES_BELOW;
    private static final VarHandle OFF_MAIN_PUSHED;
    private static final VarHandle MAIN_READY;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(Counts.class, "completed", long.class);
            ENDED_BELOW = MethodHandles.lookup().findVarHandle(Counts.class, "endedBelow", long.class);
            PRIORITIES_BELOW = MethodHandles.lookup().findVarHandle(Counts.class, "prioritiesBelow", long.class);
            OFF_MAIN_PUSHED = MethodHandles.lookup().findVarHandle(Counts.class, "offMainPushed", long.class);
            MAIN_READY = MethodHandles.lookup().findVarHandle(Counts.class, "mainReady", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        // The first call at each place links it, for which there may be no memory when an operation ends.
        Counts first = new Counts(0);
        first.priorityPushed(first.completed() + first.endedBelow());
        first.offMainPushed();
        first.offMainReady();
        first.mainReady();
        first.isMainReady(0);
        if (!first.hasOffMain() && !first.hasPriorities()) {
            first.complete();
        }
    }

    /**
     * The number of operations that have been read from the log. Guarded by the tracker lock; a waiting thread reads it
     * as a hint.
     */
    long position;
    /**
     * The number of operations that were admitted early and that the reader of the log has not reached yet. Guarded by
     * the tracker lock.
     */
    long early;
    /** Guarded by the tracker lock. */
    long failed;
    /** Guarded by the tracker lock. */
    long skipped;
    /** Guarded by the tracker lock. */
    long cancelled;
    /** Guarded by the tracker lock; any thread may read it through its handle. */
    private long completed;
    /** Guarded by the tracker lock; any thread may read it through its handle. */
    private long endedBelow;
    /** Guarded by the push lock; any thread may read it through its handle. */
    private long prioritiesBelow;
    /** The number of pushed operations for lanes other than the main one. Guarded by the push lock. */
    private long offMainPushed;
    /** The number of these operations whose push failed after it had been counted. Guarded by the push lock. */
    long offMainAbandoned;
    /** The number of these operations that have become ready. Guarded by the tracker lock. */
    private long offMainReady;
    /**
     * The number of all other operations that have become ready. Guarded by the tracker lock; any thread may read it
     * through its handle.
     */
    private long mainReady;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    /**
     * Creates the counters of an engine without pushes.
     *
     * @param first
     *            the order of the first operation
     */
    Counts(long first) {
        position = first;
        completed = first;
        endedBelow = first;
        prioritiesBelow = first;
        mainReady = first;
    }

    /** Counts an operation that has ended. */
    void complete() {
        long c = completed + 1;
        COMPLETED.setRelease(this, c);
        if (c == position + early) {
            ENDED_BELOW.setRelease(this, position);
        }
    }

    /** Returns the number of operations that have ended. */
    long completed() {
        return (long) COMPLETED.getAcquire(this);
    }

    /** Returns an order such that all operations of a lower order have ended; others may have ended too. */
    long endedBelow() {
        return (long) ENDED_BELOW.getAcquire(this);
    }

    /**
     * Records the push of an operation whose priority is not the default; under the push lock. A volatile store,
     * because the pushing thread then reads {@link BatchPreemption}, and a thread that has cleared
     * {@link BatchPreemption} then reads this.
     */
    void priorityPushed(long end) {
        PRIORITIES_BELOW.setVolatile(this, end);
    }

    /**
     * Records the push of an operation that is not for the main lane; under the push lock. A volatile store for the
     * same reason.
     */
    void offMainPushed() {
        OFF_MAIN_PUSHED.setVolatile(this, offMainPushed + 1);
    }

    /**
     * Records that an operation which is not for the main lane has become ready: it is now in the queue of its own
     * lane, or ends.
     */
    void offMainReady() {
        offMainReady++;
    }

    /** Counts an operation that has become ready and is not for a lane other than the main one. */
    void mainReady() {
        MAIN_READY.setOpaque(this, mainReady + 1);
    }

    /**
     * Returns whether no operation for the main lane is in the log or waits for its variables; under the push lock. May
     * return false for a short time after the last one has become ready.
     *
     * @param pushed
     *            the order of the next operation
     */
    boolean isMainReady(long pushed) {
        return pushed - (offMainPushed - offMainAbandoned) == (long) MAIN_READY.getOpaque(this);
    }

    /** Returns whether operations that are not for the main lane are in the log or wait for their variables. */
    boolean hasOffMain() {
        return (long) OFF_MAIN_PUSHED.getOpaque(this) - offMainAbandoned != offMainReady;
    }

    /** Returns whether the log may hold operations whose priority is not the default. */
    boolean hasPriorities() {
        return position < (long) PRIORITIES_BELOW.getOpaque(this);
    }

    /** Returns the number of admitted operations. */
    long admitted() {
        return position + early;
    }

    /** Returns the number of admitted operations that have not ended. */
    long pending() {
        return admitted() - completed;
    }
}

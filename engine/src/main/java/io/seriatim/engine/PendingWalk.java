package io.seriatim.engine;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the pending operations, from given ones to those that wait for them, along the queues of their variables.
 * So the engine needs no list of pending operations. The walk holds the tracker lock, and the log has been read up to
 * the end of the walk.
 *
 * <p>
 * <b>Slices.</b> Tens of thousands of operations may be pending, and no operation can complete while the tracker lock
 * is held. So a walk releases the lock for a moment whenever it has held it for {@link EngineCore#sliceNanos}. It may
 * do so at a follower of an operation X, because of this invariant: <i>while X has not ended, no operation that waits
 * for X leaves the queue.</i> So the walk's position in the queue stays valid until X ends. After that no follower of X
 * is left to find, and the walk goes on with another operation. Operations that were pushed after the walk began are
 * ignored, so that the walk ends.
 *
 * <p>
 * <b>Cost.</b> Each queue is walked once: the visited part of a queue is always a suffix. Positions are compared by the
 * order of operations, because each queue is in push order. Guarded by the tracker lock.
 */
abstract class PendingWalk {
    /** The pause between two slices: longer than the naps of threads that wait for the tracker lock. */
    private static final long REST_NANOS = 50_000;
    /** The number of steps between two reads of the clock; a power of two. */
    private static final int STEPS = 32;

    final EngineCore core;
    private final Map<Variable, Shown> shown = new HashMap<>();
    /** The walk visits operations before this position only. */
    private long end = Long.MAX_VALUE;
    private long until;
    private int steps;

    /** The visited part of one variable's queue. Guarded by the tracker lock. */
    static final class Shown {
        /** All operations from this position on have been visited. */
        long from = Long.MAX_VALUE;
        /** A cached run of reads, from one position to another, and the operation that follows them. */
        long firstRead = Long.MAX_VALUE;
        long afterReads = Long.MAX_VALUE;
        @Nullable
        Operation follower;
        /** The first {@code Drain} that has not been visited, once {@code drainsSeen} is set. */
        boolean drainsSeen;
        @Nullable
        Drain drains;
    }

    /** Receives an operation found in a variable's queue. */
    @FunctionalInterface
    interface Visitor {
        void visit(Variable variable, Operation op);
    }

    PendingWalk(EngineCore core) {
        this.core = core;
    }

    /** Begins the walk; under the tracker lock, after the log has been read. */
    void begin() {
        shown.clear();
        end = 2 * core.log.pushed() + 1;
        until = System.nanoTime() + core.sliceNanos;
    }

    /**
     * Returns the position of an operation in every queue that it is in. A wait stands before the operation that was
     * pushed next.
     */
    static long place(Operation op) {
        return op.has(Operation.PROBE) ? 2 * op.order : 2 * op.order + 1;
    }

    /** Returns whether an operation was pushed before the walk began. */
    boolean isOld(Operation op) {
        return place(op) < end;
    }

    Shown shown(Variable v) {
        Shown s = shown.get(v);
        if (s == null) {
            s = new Shown();
            shown.put(v, s);
        }
        return s;
    }

    /**
     * Returns whether an operation waits for a variable and does not hold it: then it does not stand before the head of
     * the queue.
     */
    static boolean isQueued(Operation op, VarState s) {
        Operation head = s.head;
        return op.waiting > 0 && head != null && place(op) >= place(head);
    }

    /**
     * Visits the operations that wait for {@code op} in the queues of its variables, except those that were visited
     * before.
     */
    void forEachFollower(Operation op, Visitor visitor) {
        for (int i = 0; i < op.count && !op.has(Operation.ENDED); i++) {
            Variable v = op.vars[i];
            VarState s = v.state();
            Operation first = s.head;
            if (first == null) {
                continue;
            }
            Shown seen = shown(v);
            if (isQueued(op, s)) {
                if (place(op) >= seen.from) {
                    // It was visited, and so were the operations behind it.
                    continue;
                }
                // It is in the queue itself: operations before it do not wait for it, nor do the reads of the same run.
                first = i < op.reads ? behindReads(op, i, seen) : op.next[i];
            }
            if (first != null && place(first) < seen.from && walk(op, v, first, Math.min(seen.from, end), visitor)) {
                seen.from = place(first);
            }
        }
    }

    /** Walks a part of a queue; returns false if operation {@code before} has ended meanwhile. */
    private boolean walk(Operation before, Variable v, Operation first, long stop, Visitor visitor) {
        Operation o = first;
        while (o != null && place(o) < stop) {
            visitor.visit(v, o);
            // Does not pause at a wait, because an abandoned wait leaves the queue.
            if (!o.has(Operation.PROBE) && pause() && before.has(Operation.ENDED)) {
                return false;
            }
            o = o.next[o.indexOf(v)];
        }
        return true;
    }

    private static @Nullable Operation behindReads(Operation op, int place, Shown seen) {
        long at = place(op);
        if (at < seen.firstRead || at >= seen.afterReads) {
            Variable v = op.vars[place];
            Operation o = op.next[place];
            while (o != null && o.indexOf(v) < o.reads) {
                if (place(o) >= seen.firstRead && place(o) < seen.afterReads) {
                    o = seen.follower;
                    break;
                }
                o = o.next[o.indexOf(v)];
            }
            seen.firstRead = at;
            seen.afterReads = o == null ? Long.MAX_VALUE : place(o);
            seen.follower = o;
        }
        return seen.follower;
    }

    /** Ends a step: releases the tracker lock for a moment if the time slice is over. Returns whether it did. */
    boolean pause() {
        core.rules.visited();
        if ((++steps & (STEPS - 1)) != 0 || !core.rules.isSliceOver(until)) {
            return false;
        }
        try {
            core.lock.leave();
            core.rules.paused();
            LockSupport.parkNanos(this, REST_NANOS);
        } finally {
            // The caller releases the lock at the end of the walk, even after an Error; enough stack was available when
            // the walk began.
            core.lock.enterShallow();
        }
        until = System.nanoTime() + core.sliceNanos;
        return true;
    }
}

package io.seriatim.engine.pending;

import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.dependency.Drain;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.VarState;
import io.seriatim.engine.dependency.Variable;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Walks the pending operations: from some of them, over the queues of the variables they hold, to those that wait for
 * them. So the engine need keep no list of what is pending. Under the tracker lock, with the log taken in up to the
 * walk's end.
 *
 * <p>
 * <b>Slices.</b> Tens of thousands of operations may be pending, and nobody can complete anything while the tracker
 * lock is held. A walk gives it back for a moment whenever it has held it for half a millisecond. It may do so
 * at a follower of an operation X, because of this rule: <i>while X has not ended, nothing that waits for it leaves the
 * queue.</i> So its place in the queue stays good until X ends; then there is nothing more to be found behind X, and it
 * goes on with another. What was pushed after the walk began is left out, so that a walk ends.
 *
 * <p>
 * <b>Cost.</b> Each queue is walked once: what was shown of it is always all from some place to its end. Places are
 * compared by order, for each queue is in push order.
 */
public abstract class PendingWalk {
    /** How long it leaves the tracker lock to others: longer than the naps of those who wait for it. */
    private static final long REST_NANOS = 50_000;
    /** Steps between looks at the clock, a power of two. */
    private static final int STEPS = 32;

    final EngineCore core;
    private final Map<Variable, Shown> shown = new HashMap<>();
    /** The place before which the operations stand that are looked at. */
    private long end = Long.MAX_VALUE;
    private long until;
    private int steps;

    /** What was shown of one variable's queue. */
    static final class Shown {
        /** Everything from this place on. */
        long from = Long.MAX_VALUE;
        /** From one place to another all are reads; what follows these. */
        long firstRead = Long.MAX_VALUE;
        long afterReads = Long.MAX_VALUE;
        @Nullable
        Operation follower;
        /** The waits for all operations that have not been shown. */
        boolean drainsSeen;
        @Nullable
        Drain drains;
    }

    /** Takes an operation found in a variable's queue. */
    @FunctionalInterface
    interface Visitor {
        void visit(Variable variable, Operation op);
    }

    PendingWalk(EngineCore core) {
        this.core = core;
    }

    /** Begins, under the tracker lock and with the log taken in. */
    void begin() {
        shown.clear();
        end = 2 * core.log.pushed() + 1;
        until = System.nanoTime() + core.sliceNanos;
    }

    /**
     * Where an operation stands in every queue it is in, compared with others. A wait stands before the operation that
     * was pushed next.
     */
    static long place(Operation op) {
        return op.has(Operation.PROBE) ? 2 * op.order : 2 * op.order + 1;
    }

    /** Whether an operation was pushed before the walk began. */
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
     * Whether an operation waits for a variable, and does not hold it: then it is not before the first in the queue.
     */
    static boolean isQueued(Operation op, VarState s) {
        Operation head = s.head;
        return op.waiting > 0 && head != null && place(op) >= place(head);
    }

    /** Those that wait for an operation in the queue of one of its variables, except those that were shown before. */
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
                    // It was shown itself, and so were those behind it.
                    continue;
                }
                // It waits itself: those before it do not wait for it, nor do the reads beside it.
                first = i < op.reads ? behindReads(op, i, seen) : op.next[i];
            }
            if (first != null && place(first) < seen.from && walk(op, v, first, Math.min(seen.from, end), visitor)) {
                seen.from = place(first);
            }
        }
    }

    /** Walks a part of a queue; returns false if the operation before it has ended meanwhile. */
    private boolean walk(Operation before, Variable v, Operation first, long stop, Visitor visitor) {
        Operation o = first;
        while (o != null && place(o) < stop) {
            visitor.visit(v, o);
            // Not at a wait: one that is given up leaves the queue.
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

    /** Ends a step: releases the tracker lock for a moment, if it has been held for long. Returns whether it did. */
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
            // Whoever walks gives it back at the end, an Error or not; the room was there at the beginning.
            core.lock.enterShallow();
        }
        until = System.nanoTime() + core.sliceNanos;
        return true;
    }
}

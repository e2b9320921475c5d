package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The log of pushed operations, in push order, until the tracker admits them.
 *
 * <p>
 * <b>Two queues.</b> A worker admits operations one at a time, when it has none to run, because an operation that was
 * just admitted is in the worker's cache. So a ready operation may stand in the log behind a long chain of others. An
 * operation that is ready when it is pushed, because no conflicting operation on its variables is pending, is therefore
 * added to a second queue as well. The tracker admits the first operation of that queue early when enough later
 * operations have run before it.
 */
final class PushLog {
    /** The number of pushes between two reads of the progress of completed operations; a power of two. */
    private static final int STALE = 64;
    /**
     * The number of pushes in a row for other lanes after which another lane becomes the main one; large, so that
     * copies between computations do not change it.
     */
    private static final int OTHERS = 1024;

    /**
     * The fields that every push writes, padded against the fields that the consumer reads. Guarded by the push lock,
     * except that any thread may read the number of pushes.
     */
    private static final class PushState extends Padding.Before {
        private static final VarHandle PUSHED;

        static {
            try {
                PUSHED = MethodHandles.lookup().findVarHandle(PushState.class, "pushed", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        long pushed;
        long completedSeen;
        long endedBelowSeen;
        /** Refuses pushes by threads that run no operation of this engine. */
        boolean draining;
        /** Refuses all pushes. */
        boolean closed;
        /** The main lane: its operations may be admitted one at a time. */
        @Nullable
        WorkerLane main;
        /** The number of operations pushed for other lanes since the last one for the main lane, up to a limit. */
        int othersInRow;
        @SuppressWarnings("unused")
        private long p8, p9, p10, p11, p12;

        PushState(long first) {
            pushed = first;
            completedSeen = first;
            endedBelowSeen = first;
        }
    }

    private final OpQueue all = new OpQueue();
    private final OpQueue readyAtPush = new OpQueue();
    private final Counts counts;
    private final BatchPreemption preemption;
    private final Rules rules;
    private final int maxPending;
    private final String engine;

    /** Guarded by the push lock, except that any thread may read the number of pushes. */
    private final PushState state;

    PushLog(String engine, Counts counts, BatchPreemption preemption, int maxPending, Rules rules) {
        this.rules = rules;
        this.preemption = preemption;
        this.engine = engine;
        this.counts = counts;
        this.maxPending = maxPending;
        state = new PushState(counts.position);
    }

    /** Returns whether the maximum number of operations is pending; under the lock. */
    boolean isFull() {
        PushState f = state;
        if (f.pushed - f.completedSeen < maxPending) {
            return false;
        }
        f.completedSeen = counts.completed();
        return f.pushed - f.completedSeen >= maxPending;
    }

    /**
     * Appends an operation and assigns its order; under the lock.
     *
     * @param running
     *            whether the calling thread runs an operation of this engine
     * @throws IllegalStateException
     *             if the engine is closed or a variable is deleted
     */
    void append(Operation op, boolean running) {
        PushState f = state;
        if (f.closed || (f.draining && !running)) {
            throw new PushRefusedException(
                    "engine '" + engine + "' is closed, so operation '" + op.name + "' cannot be pushed");
        }
        for (int i = 0; i < op.count; i++) {
            if (op.vars[i].deleted) {
                throw deleted(op.vars[i], "operation '" + op.name + "' cannot use it");
            }
        }
        long order = f.pushed;
        if ((order & (STALE - 1)) == 0) {
            f.endedBelowSeen = counts.endedBelow();
        }
        op.order = order;
        boolean offMain = isOffMain(f, op);
        Variable deleted = op.has(Operation.DELETES) ? op.vars[0] : null;
        if (op.priority != 0 || op.has(Operation.URGENT)) {
            counts.priorityPushed(order + 1);
            preemption.request();
        }
        boolean counted = false;
        try {
            if (offMain) {
                op.flags |= Operation.OFF_MAIN;
                counts.offMainPushed();
                counted = true;
                preemption.request();
            }
            if (use(op, order, f.endedBelowSeen)) {
                op.flags |= Operation.READY_AT_PUSH;
                readyAtPush.append(op);
            }
            rules.beforeAppend(op);
            all.append(op);
        } catch (Throwable t) {
            // The stack may be exhausted, so no method is called here. The operation may be in the second queue, whose
            // reader skips abandoned ones.
            op.flags |= Operation.ABANDONED;
            if (counted) {
                counts.offMainAbandoned++;
            }
            throw t;
        }
        // From here on the operation is pushed, and nothing may fail.
        if (deleted != null) {
            deleted.deleted = true;
        }
        try {
            PushState.PUSHED.setRelease(f, order + 1);
        } catch (Throwable t) {
            // The release of the lock publishes the plain store.
            f.pushed = order + 1;
        }
    }

    /**
     * Returns whether an operation is for a lane other than the main one; under the lock. Makes its lane the main one
     * if no operation was pushed for the main lane for long, and none is in the log or waits for its variables.
     */
    @SuppressWarnings("ReferenceEquality") // Lanes are compared by identity.
    private boolean isOffMain(PushState f, Operation op) {
        if (op.workers == f.main) {
            if (f.othersInRow != 0) {
                f.othersInRow = 0;
            }
            return false;
        }
        if (op.kind == OpKind.ASYNC || op.has(Operation.IMMEDIATE)) {
            return false;
        }
        if (f.othersInRow < OTHERS) {
            f.othersInRow++;
            return true;
        }
        if (!counts.isMainReady(f.pushed)) {
            return true;
        }
        f.main = op.workers;
        f.othersInRow = 0;
        return false;
    }

    /** Sets the main lane of an engine on which nothing was pushed yet. */
    void startWith(WorkerLane main) {
        state.main = main;
    }

    /** Returns the main lane, or null if there are no lanes; under the lock. */
    @Nullable
    WorkerLane main() {
        return state.main;
    }

    /**
     * Records the use of the variables; returns whether all earlier conflicting operations on them are known to have
     * ended.
     */
    private static boolean use(Operation op, long order, long ended) {
        boolean free = true;
        for (int i = 0; i < op.count; i++) {
            Variable v = op.vars[i];
            if (i < op.reads) {
                free &= v.lastMutation < ended;
            } else {
                free &= v.lastUse < ended;
                v.lastMutation = order;
            }
            v.lastUse = order;
        }
        return free;
    }

    IllegalStateException deleted(Variable v, String consequence) {
        return new IllegalStateException("variable '" + v.name() + "' has been deleted: " + consequence);
    }

    /** Returns whether only running operations may push; under the lock. */
    boolean isDraining() {
        return state.draining;
    }

    /** Refuses all later pushes but those of running operations; under the push lock. */
    void drain() {
        state.draining = true;
    }

    /** Refuses all later pushes; under the push lock. */
    void close() {
        state.closed = true;
    }

    /**
     * Refuses all later pushes if exactly the given number of operations was pushed; returns whether it does. Under the
     * push lock.
     */
    boolean closeAt(long completed) {
        boolean all = state.pushed == completed;
        state.closed |= all;
        return all;
    }

    /** Refuses all later pushes, without a call that could fail. */
    void markBroken() {
        state.closed = true;
    }

    /** Returns the number of appended operations, including at least those whose push happens before this call. */
    long pushed() {
        return (long) PushState.PUSHED.getAcquire(state);
    }

    /** Returns the next operation without removing it, or null; under the tracker lock. */
    @Nullable
    Operation peek() {
        return all.peek();
    }

    /** Removes the next operation; under the tracker lock. */
    void advance(Operation next) {
        all.advance();
        if (next.has(Operation.READY_AT_PUSH) && !next.has(Operation.TAKEN_EARLY)) {
            Operation first;
            do {
                // Abandoned operations may stand before it.
                first = readyAtPush.poll();
            } while (first != null && first != next);
        }
    }

    /**
     * Removes and returns the first operation that was ready when it was pushed and is still in the log, or null if its
     * order is not below the bound; under the tracker lock.
     */
    @Nullable
    Operation pollEarly(long below) {
        Operation op = readyAtPush.peek();
        while (op != null && op.order < below && op.has(Operation.ABANDONED)) {
            readyAtPush.advance();
            op = readyAtPush.peek();
        }
        if (op == null || op.order >= below) {
            return null;
        }
        readyAtPush.advance();
        op.flags |= Operation.TAKEN_EARLY;
        return op;
    }

    /** Clears the references to removed operations; under the tracker lock, before its owner becomes idle. */
    void forget() {
        all.forget();
        readyAtPush.forget();
    }
}

package io.seriatim.engine.log;

import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Rules;
import io.seriatim.engine.dependency.Variable;
import io.seriatim.engine.queue.OpQueue;
import io.seriatim.engine.sync.Padding;
import io.seriatim.engine.sync.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The operations in the one order in which they were pushed, until the tracker takes them in.
 *
 * <p>
 * <b>Two queues.</b> A worker takes the log in slowly, an operation when it has nothing to run, because what it has
 * just taken in is in its cache. So a ready operation may stand in the log behind a long chain of others. Those that
 * are known to be ready when they are pushed, because nothing that uses their variables was pending, stand in a second
 * queue too, from which the tracker takes one early when it has been overtaken for long enough.
 */
public final class PushLog {
    /**
     * How many pushes may go by before the pushing threads look again how far the operations have ended; a power of
     * two.
     */
    private static final int STALE = 64;

    /** What every push changes; apart from what those who take the log in read. */
    private static final class Front extends Padding.Before {
        private static final VarHandle PUSHED;

        static {
            try {
                PUSHED = MethodHandles.lookup().findVarHandle(Front.class, "pushed", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        long pushed;
        long completedSeen;
        long endedBelowSeen;
        boolean closed;
        @SuppressWarnings("unused")
        private long p8, p9, p10, p11, p12, p13;

        Front(long first) {
            pushed = first;
            completedSeen = first;
            endedBelowSeen = first;
        }
    }

    /**
     * Excludes pushing threads from each other, and guards whatever says so: who sleeps, what is deleted, whether the
     * engine is closed.
     */
    public final SpinLock lock = new SpinLock();
    private final OpQueue all = new OpQueue();
    private final OpQueue readyAtPush = new OpQueue();
    private final Counts counts;
    private final Attention attention;
    private final Rules rules;
    private final int maxPending;
    private final String engine;

    /** Guarded by the lock, except that any thread may look at how much was pushed. */
    private final Front front;

    public PushLog(String engine, Counts counts, Attention attention, int maxPending, Rules rules) {
        this.rules = rules;
        this.attention = attention;
        this.engine = engine;
        this.counts = counts;
        this.maxPending = maxPending;
        front = new Front(counts.position);
    }

    /** Whether as many operations are pending as may be; under the lock. */
    public boolean isFull() {
        Front f = front;
        if (f.pushed - f.completedSeen < maxPending) {
            return false;
        }
        f.completedSeen = counts.completed();
        return f.pushed - f.completedSeen >= maxPending;
    }

    /**
     * Appends an operation and gives it its place in the order; under the lock.
     *
     * @throws IllegalStateException
     *             if the engine is closed or a variable deleted
     */
    public void append(Operation op) {
        Front f = front;
        if (f.closed) {
            throw new IllegalStateException(
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
        boolean offMain = op.has(Operation.OFF_MAIN);
        Variable deleted = op.has(Operation.DELETES) ? op.vars[0] : null;
        if (op.priority != 0 || op.has(Operation.URGENT)) {
            counts.press(order + 1);
            attention.want();
        }
        boolean counted = false;
        try {
            if (offMain) {
                counts.offMainPushed();
                counted = true;
                attention.want();
            }
            if (use(op, order, f.endedBelowSeen)) {
                op.flags |= Operation.READY_AT_PUSH;
                readyAtPush.append(op);
            }
            rules.beforeAppend(op);
            all.append(op);
        } catch (Throwable t) {
            // The stack may be at its end: no calls here. It stands in the second queue, maybe, and is passed there.
            op.flags |= Operation.ABANDONED;
            if (counted) {
                counts.offMainAbandoned++;
            }
            throw t;
        }
        // From here on it is pushed, and nothing may fail.
        if (deleted != null) {
            deleted.deleted = true;
        }
        try {
            Front.PUSHED.setRelease(f, order + 1);
        } catch (Throwable t) {
            // Published by the release of the lock.
            f.pushed = order + 1;
        }
    }

    /** Notes which variables are used; returns whether all that used them before is known to have ended. */
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

    public IllegalStateException deleted(Variable v, String consequence) {
        return new IllegalStateException("variable '" + v.name() + "' has been deleted: " + consequence);
    }

    /** Refuses all that comes. */
    public void close() {
        lock.lock();
        front.closed = true;
        lock.held = 0;
    }

    /** Refuses all that comes, without a call that could fail. */
    public void broke() {
        front.closed = true;
    }

    /** How many operations were appended by this thread, or in a way that it knows of. */
    public long pushed() {
        return (long) Front.PUSHED.getAcquire(front);
    }

    /** Looks at the next operation, or null; under the tracker lock. */
    @Nullable
    public Operation peek() {
        return all.peek();
    }

    /** Takes the next operation; under the tracker lock. */
    public void advance(Operation next) {
        all.advance();
        if (next.has(Operation.READY_AT_PUSH) && !next.has(Operation.TAKEN_EARLY)) {
            Operation first;
            do {
                // Before it stand those whose push has failed, if any.
                first = readyAtPush.poll();
            } while (first != null && first != next);
        }
    }

    /**
     * Takes the first operation that was ready when it was pushed and is still in the log, if its order is below a
     * bound; under the tracker lock.
     */
    @Nullable
    public Operation pollEarly(long below) {
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

    /** Drops references to what was taken; under the tracker lock, before its owner goes idle. */
    public void forget() {
        all.forget();
        readyAtPush.forget();
    }
}

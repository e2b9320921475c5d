package io.seriatim.engine.thread;

import io.seriatim.engine.AsyncBody;
import io.seriatim.engine.Body;
import io.seriatim.engine.dependency.AsyncCompletion;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.CallbackQueue;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Owner;
import io.seriatim.engine.dependency.Times;
import io.seriatim.engine.sync.Reserve;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What one thread is running: the operation, and under it those that it interrupted to help. */
public final class Workplace {
    private static final ThreadLocal<Workplace> OTHERS = ThreadLocal.withInitial(() -> new Workplace(null));

    /** The worker that this thread is, or null for a thread of the user's. */
    public final @Nullable WorkerThread worker;
    /** Not volatile: others look at it only to show it. */
    @Nullable
    public Operation running;
    /** What this thread is about to tell users, the innermost of its doings first. */
    public final CallbackQueue callbacks = new CallbackQueue();
    private final CallbackQueue bounced = new CallbackQueue();
    private boolean bouncing;

    Workplace(@Nullable WorkerThread worker) {
        this.worker = worker;
    }

    public static Workplace here() {
        return Thread.currentThread() instanceof WorkerThread worker ? worker.place : OTHERS.get();
    }

    public static boolean isInside() {
        return here().running != null;
    }

    /** The operation of an engine that this thread runs, the innermost one, or null. */
    @SuppressWarnings("ReferenceEquality") // That engine itself.
    public static @Nullable Operation runningOf(Owner core) {
        Operation op = here().running;
        while (op != null && op.core != core) {
            op = op.link;
        }
        return op;
    }

    /** Runs the body of an operation. Returns what it threw; an asynchronous one tells its end itself. */
    @Nullable
    public Throwable run(Operation op, int number) {
        Times times = op.times;
        if (times != null) {
            times.start(number);
        }
        boolean async = op.has(Operation.ASYNC_BODY);
        Operation outer = running;
        if (op.link != outer) {
            // Not written without need: another processor may have the operation's line.
            op.link = outer;
        }
        Throwable thrown = null;
        // No call from here to the try: an Error out of it would leave this thread inside of the operation.
        running = op;
        try {
            Object body = op.body;
            if (body == null) {
                throw new IllegalStateException(op + " has no body to run");
            }
            if (async) {
                AsyncCompletion.start(op, (AsyncBody) body);
            } else {
                ((Body) body).run();
            }
        } catch (Throwable t) {
            // An OutOfMemoryError is the operation's failure like any other: it is kept, and the worker goes on.
            thrown = t;
        }
        if (times != null && !async) {
            // Still inside the operation: a recorder that pushes must not wait for room, or for this to end.
            try {
                times.ran(op, thrown);
            } catch (Throwable t) {
                op.core.unhandled(t);
            }
        }
        running = outer;
        return thrown;
    }

    /**
     * Runs an operation of kind ASYNC, and those that it makes ready, one after the other: each ends before the next
     * begins, so a chain of a million does not grow the stack.
     */
    public void bounce(Operation op) {
        bounced.add(op);
        if (bouncing) {
            return;
        }
        bouncing = true;
        try {
            while (!bounced.isEmpty()) {
                // What is taken is to be run: there is room for all but the body itself.
                Reserve.take();
                Operation o = (Operation) bounced.poll();
                if (o != null) {
                    bounceOne(o);
                }
            }
        } finally {
            bouncing = false;
            if (!bounced.isEmpty()) {
                handOver();
            }
        }
    }

    private void bounceOne(Operation o) {
        if (o.core.isCancelled(o)) {
            o.core.giveUp(o);
            return;
        }
        Throwable thrown;
        try {
            thrown = run(o, -1);
        } catch (Throwable t) {
            // The stack ended before the body could begin.
            thrown = t;
        }
        o.core.ranElsewhere(o, thrown);
    }

    /** Calls this thread's callbacks up to one that was there before. */
    @SuppressWarnings("ReferenceEquality") // That one, not an equal one.
    public void call(Owner core, @Nullable Callback stop) {
        Callback callback = callbacks.first();
        if (callback == null || callback == stop) {
            return;
        }
        try {
            Reserve.take();
        } catch (StackOverflowError e) {
            // There is room to leave them to others, but none to call them.
            resume(handOver());
            return;
        }
        while ((callback = callbacks.first()) != null && callback != stop) {
            callbacks.poll();
            if (bouncing && tells(callback) && core.hasWorkers()
                    && (!bounced.isEmpty() || callbacks.first() != stop)) {
                // It may block, and the operations that this thread is to run next would wait for it.
                core.leaveToOthers(callback);
            } else {
                core.guard(callback);
            }
        }
    }

    private static boolean tells(Callback callback) {
        return !(callback instanceof Operation op) || op.has(Operation.ENDED);
    }

    /**
     * This thread is about to wait, maybe for what it holds itself: leaves all of that to others.
     *
     * @return what {@link #resume} takes after the wait
     */
    public boolean handOver() {
        Callback callback;
        while ((callback = callbacks.poll()) != null || (callback = bounced.poll()) != null) {
            callback.owner().leaveToOthers(callback);
        }
        boolean was = bouncing;
        bouncing = false;
        return was;
    }

    public void resume(boolean wasBouncing) {
        bouncing = wasBouncing;
    }
}

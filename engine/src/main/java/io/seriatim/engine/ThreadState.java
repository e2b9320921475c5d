package io.seriatim.engine;

import io.seriatim.engine.sync.StackReserve;
import org.jspecify.annotations.Nullable;

/**
 * The state of one thread: the operation that it runs, the enclosing operations whose waits it uses to run others, and
 * the callbacks that it still has to call.
 */
final class ThreadState {
    private static final ThreadLocal<ThreadState> OTHERS = ThreadLocal.withInitial(() -> new ThreadState(null));

    /** This thread as a worker, or null for a thread of the user. */
    final @Nullable Worker worker;
    /**
     * The innermost running operation. Not volatile: other threads read it only for display. Confined to this thread
     * apart from that.
     */
    @Nullable
    Operation running;
    /** The callbacks that this thread has to call; those of the innermost step come first. */
    final CallbackQueue callbacks = new CallbackQueue();
    private final CallbackQueue queued = new CallbackQueue();
    /** Confined to this thread. */
    private boolean inTrampoline;

    ThreadState(@Nullable Worker worker) {
        this.worker = worker;
    }

    static ThreadState here() {
        return Thread.currentThread() instanceof Worker worker ? worker.state : OTHERS.get();
    }

    static boolean isInside() {
        return here().running != null;
    }

    /** Returns the innermost operation of an engine that this thread runs, or null. */
    @SuppressWarnings("ReferenceEquality") // Engines are compared by identity.
    static @Nullable Operation runningOf(EngineCore core) {
        Operation op = here().running;
        while (op != null && op.core != core) {
            op = op.link;
        }
        return op;
    }

    /**
     * Runs the body of an operation and returns the exception that it threw, or null. An asynchronous operation reports
     * its end through its completion.
     */
    @Nullable
    Throwable run(Operation op, int number) {
        Times times = op.times;
        if (times != null) {
            times.start(number);
        }
        boolean async = op.has(Operation.ASYNC_BODY);
        Operation outer = running;
        if (op.link != outer) {
            // Written only if it differs: another processor may hold the operation's cache line.
            op.link = outer;
        }
        Throwable thrown = null;
        // No call may stand between here and the try: an Error thrown by it would leave this thread marked as inside
        // the operation.
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
            // An OutOfMemoryError is a failure of the operation like any other, and the worker goes on.
            thrown = t;
        }
        if (times != null && !async) {
            // An interrupt would close the channel that a recorder writes to.
            clearInterrupt(outer);
            // The thread is still marked as inside the operation, so a recorder that pushes does not wait for room.
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
     * Runs an operation of kind ASYNC, and the ASYNC operations that become ready by it, as a trampoline: each ends
     * before the next begins, so a chain of a million operations does not grow the stack.
     */
    void trampoline(Operation op) {
        queued.add(op);
        if (inTrampoline) {
            return;
        }
        inTrampoline = true;
        try {
            while (!queued.isEmpty()) {
                // An operation that is removed must be run, so check first that the stack suffices for everything but
                // the body.
                StackReserve.check();
                Operation o = (Operation) queued.poll();
                if (o != null) {
                    runOne(o);
                }
            }
        } finally {
            inTrampoline = false;
            if (!queued.isEmpty()) {
                handOver();
            }
        }
    }

    private void runOne(Operation o) {
        if (o.core.execution.isCancelled(o)) {
            o.core.execution.giveUp(o);
            return;
        }
        boolean aside = Thread.interrupted();
        try {
            Throwable thrown;
            try {
                thrown = run(o, -1);
            } catch (Throwable t) {
                // The stack was exhausted before the body began.
                thrown = t;
            }
            clearInterrupt(running);
            o.core.execution.bodyReturned(o, thrown);
        } finally {
            if (aside) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Clears the interrupt flag that a body or a callback has left, so that the next one does not see it. Sets it if an
     * enclosing operation runs on an engine that was shut down: the shutdown interrupts that operation as well, and the
     * inner code may have used up the only flag that stands for both.
     */
    void clearInterrupt() {
        clearInterrupt(running);
    }

    private static void clearInterrupt(@Nullable Operation enclosing) {
        boolean shut = false;
        for (Operation op = enclosing; op != null && !shut; op = op.link) {
            shut = op.core.execution.isCancelled(op);
        }
        if (shut) {
            Thread.currentThread().interrupt();
        } else {
            Thread.interrupted();
        }
    }

    /**
     * Restores the flag of the calling thread after a callback.
     *
     * @param aside
     *            whether the flag was set before the callback, which must not see it
     */
    static void endCallback(boolean aside) {
        here().clearInterrupt();
        if (aside) {
            Thread.currentThread().interrupt();
        }
    }

    /** Calls this thread's callbacks, up to the one that stood first when the current step began. */
    @SuppressWarnings("ReferenceEquality") // Callbacks are compared by identity.
    void call(EngineCore core, @Nullable Callback stop) {
        Callback callback = callbacks.first();
        if (callback == null || callback == stop) {
            return;
        }
        try {
            StackReserve.check();
        } catch (StackOverflowError e) {
            // The stack suffices to hand the callbacks to other threads, but not to call them.
            resume(handOver());
            return;
        }
        while ((callback = callbacks.first()) != null && callback != stop) {
            callbacks.poll();
            if (inTrampoline && tells(callback) && core.dispatcher.hasWorkers()
                    && (!queued.isEmpty() || callbacks.first() != stop)) {
                // The callback may block, and the operations that this thread has to run next would wait for it.
                core.lock.leaveToOthers(callback);
            } else {
                core.guard(callback);
            }
        }
    }

    private static boolean tells(Callback callback) {
        return !(callback instanceof Operation op) || op.has(Operation.ENDED);
    }

    /**
     * Hands this thread's callbacks and operations to other threads, because it is about to wait, possibly for one of
     * them.
     *
     * @return the argument of {@link #resume} after the wait
     */
    boolean handOver() {
        Callback callback;
        while ((callback = callbacks.poll()) != null || (callback = queued.poll()) != null) {
            callback.owner().lock.leaveToOthers(callback);
        }
        boolean was = inTrampoline;
        inTrampoline = false;
        return was;
    }

    void resume(boolean wasInTrampoline) {
        inTrampoline = wasInTrampoline;
    }
}

package io.seriatim.engine.core;

import io.seriatim.engine.OpKind;
import io.seriatim.engine.PreparedOp;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.dependency.AsyncCompletion;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Prepared;
import io.seriatim.engine.dependency.Times;
import io.seriatim.engine.dependency.UnqueuedOperation;
import io.seriatim.engine.dependency.Variable;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.sync.Deadline;
import io.seriatim.engine.thread.ThreadState;
import io.seriatim.engine.thread.WorkerThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a pushing thread: it allocates everything that the operation will need, waits while too many operations
 * are pending, appends the operation to the log under the push lock, and wakes a worker.
 */
final class PushPath {
    /** The maximum number of operations that are appended while the push lock is held once: a microsecond or two. */
    private static final int BULK = 64;

    private final EngineCore core;
    private final int maxPending;
    /** The number of pending operations at which threads that wait to push are woken. */
    private final long resumeAt;
    /** Threads that wait for room; guarded by the tracker lock. */
    private final List<Waiter> blocked = new ArrayList<>();

    PushPath(EngineCore core, int maxPending) {
        this.core = core;
        this.maxPending = maxPending;
        resumeAt = maxPending <= EngineCore.SMALL ? maxPending - 1L : maxPending - maxPending / 4;
    }

    void push(Operation op) {
        core.checkWhole();
        prepare(op);
        if (op.kind == OpKind.ASYNC) {
            pushAndAdmit(op);
        } else {
            while (!append(op, false)) {
                awaitRoom();
            }
        }
        core.dispatcher.afterPush(op);
    }

    /** Allocates everything that an operation will need, and chooses its lane. */
    private void prepare(Operation op) {
        Recorder r = core.recorder;
        if (r != null && !op.has(Operation.UNRECORDED)) {
            op.times = new Times(r);
        }
        core.dispatcher.route(op);
        if (op.has(Operation.ASYNC_BODY)) {
            op.attachment = new AsyncCompletion(op);
        } else if (op.kind == OpKind.ASYNC) {
            op.body = new UnqueuedOperation.Ready(op, Objects.requireNonNull(op.body));
        }
    }

    /**
     * Pushes operations one after the other, and acquires the push lock once for many of them.
     *
     * @throws IllegalStateException
     *             if one of them cannot be pushed; then those before it have been pushed, and those after it have not
     */
    void pushAll(PreparedOp[] ops) {
        core.checkWhole();
        for (int from = 0; from < ops.length; from += BULK) {
            Operation[] bulk = new Operation[Math.min(BULK, ops.length - from)];
            for (int i = 0; i < bulk.length; i++) {
                Operation op = ((Prepared) ops[from + i]).copy();
                prepare(op);
                bulk[i] = op;
            }
            push(new Bulk(bulk));
        }
    }

    /** Operations to be pushed, and how far that has got. */
    private static final class Bulk {
        final Operation[] ops;
        int pushed;
        /** Why the next operation could not be pushed, or null. */
        @Nullable
        IllegalStateException refused;

        Bulk(Operation[] ops) {
            this.ops = ops;
        }

        boolean isDone() {
            return pushed == ops.length;
        }

        /** Returns whether the next operation is of kind ASYNC, which the pushing thread has to admit itself. */
        boolean isAtAsync() {
            return ops[pushed].kind == OpKind.ASYNC;
        }
    }

    private void push(Bulk bulk) {
        while (!bulk.isDone()) {
            int before = bulk.pushed;
            if (bulk.isAtAsync()) {
                pushAndAdmit(bulk.ops[bulk.pushed++]);
            } else {
                append(bulk);
            }
            for (int i = before; i < bulk.pushed; i++) {
                core.dispatcher.afterPush(bulk.ops[i]);
            }
            if (bulk.refused != null) {
                throw bulk.refused;
            }
            if (!bulk.isDone() && !bulk.isAtAsync()) {
                awaitRoom();
            }
        }
    }

    /** Appends operations to the log while there is room, up to the next one of kind ASYNC. */
    private void append(Bulk bulk) {
        core.checkWhole();
        boolean inside = ThreadState.isInside();
        WorkerThread chosen = null;
        core.log.lock.lock();
        try {
            boolean running = core.log.isDraining() && ThreadState.runningOf(core) != null;
            while (!bulk.isDone() && !bulk.isAtAsync() && (inside || !core.log.isFull())) {
                Operation op = bulk.ops[bulk.pushed];
                WorkerThread worker = core.dispatcher.pushed(op);
                if (worker != null) {
                    // Nobody else uses the link of a worker that was chosen and not called.
                    worker.called = chosen;
                    chosen = worker;
                }
                core.log.append(op, running);
                bulk.pushed++;
            }
            core.log.lock.unlock();
        } catch (IllegalStateException e) {
            core.log.lock.held = 0;
            bulk.refused = e;
        } catch (Throwable t) {
            core.log.lock.held = 0;
            while (chosen != null) {
                WorkerThread following = chosen.called;
                chosen.called = null;
                chosen.pool.owed = chosen;
                chosen = following;
            }
            throw t;
        }
        while (chosen != null) {
            WorkerThread following = chosen.called;
            chosen.called = null;
            core.dispatcher.call(chosen);
            chosen = following;
        }
    }

    /**
     * Pushes and admits an operation of kind ASYNC. If it is ready, it runs on this thread, so no other thread may
     * admit it.
     */
    private void pushAndAdmit(Operation op) {
        ThreadState state = ThreadState.here();
        while (true) {
            core.lock.enter();
            Callback others = null;
            boolean done;
            try {
                core.logReader.admitAll();
                others = core.lock.lastDeferred();
                done = append(op, true);
                core.logReader.admitAll();
            } finally {
                core.lock.leaveAndCall(state, others);
            }
            if (done) {
                return;
            }
            awaitRoom();
        }
    }

    /**
     * Appends an operation to the log; returns false if too many operations are pending. Every step that may fail
     * precedes the append; nothing is thrown after it.
     */
    private boolean append(Operation op, boolean locked) {
        core.checkWhole();
        boolean inside = ThreadState.isInside();
        WorkerThread worker = null;
        core.log.lock.lock();
        try {
            if (core.log.isFull() && !inside) {
                core.log.lock.unlock();
                return false;
            }
            boolean running = core.log.isDraining() && ThreadState.runningOf(core) != null;
            worker = core.dispatcher.pushed(op);
            core.log.append(op, running);
            core.log.lock.unlock();
        } catch (Throwable t) {
            core.log.lock.held = 0;
            if (worker != null) {
                worker.pool.owed = worker;
            }
            throw t;
        }
        if (worker != null) {
            if (locked) {
                core.lock.callLater(worker);
            } else {
                core.dispatcher.call(worker);
            }
        }
        return true;
    }

    /** Throws if a variable is deleted. */
    void checkNotDeleted(Variable v, String consequence) {
        boolean deleted;
        core.log.lock.lock();
        try {
            deleted = v.deleted;
            core.log.lock.unlock();
        } catch (Throwable t) {
            core.log.lock.held = 0;
            throw t;
        }
        if (deleted) {
            throw core.log.deleted(v, consequence);
        }
    }

    /**
     * Waits until there is room for a push, or the engine is closed. An interrupt does not end the wait, because the
     * operation must not be lost.
     */
    private void awaitRoom() {
        Waiter waiter = new Waiter();
        core.lock.enter();
        try {
            if (core.life.isClosing() || core.log.pushed() - core.counts.completed() < maxPending) {
                return;
            }
            blocked.add(waiter);
        } finally {
            core.lock.leave();
        }
        uninterruptibly(waiter);
    }

    private void uninterruptibly(Waiter waiter) {
        boolean interrupted = false;
        while (!waiter.done) {
            try {
                core.await(waiter, Deadline.NEVER);
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (TimeoutException e) {
                throw Deadline.endless(e);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Called when an operation has ended: wakes the threads that wait to push, if enough operations have ended; under
     * the tracker lock.
     */
    void ended() {
        if (!blocked.isEmpty() && core.log.pushed() - core.counts.completed() <= resumeAt) {
            resume();
        }
    }

    /** Wakes all threads that wait to push, which then check again; under the tracker lock. */
    void resume() {
        for (int i = 0; i < blocked.size(); i++) {
            core.lock.wake(blocked.get(i));
        }
        blocked.clear();
    }
}

package io.seriatim.engine;

import io.seriatim.engine.sync.Deadline;
import io.seriatim.engine.sync.SpinLock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a pushing thread: it allocates everything that the operation will need, waits while too many operations
 * are pending, appends the operation to the log under the push lock, and wakes a worker.
 *
 * <p>
 * This object is the push lock. It serialises pushing threads and guards the fields that say so, among them the
 * sleeping workers, the deleted variables and whether the engine is closed. It is the only class that releases a lock
 * by an assignment instead of a call: a push does not check how much stack is left, because that would cost too much,
 * so a {@link StackOverflowError} may leave its critical section, and a call of {@link #unlock} would fail then too.
 */
final class PushPath extends SpinLock {
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
    void pushAll(List<Prepared> ops) {
        core.checkWhole();
        for (int from = 0; from < ops.size(); from += BULK) {
            Operation[] bulk = new Operation[Math.min(BULK, ops.size() - from)];
            for (int i = 0; i < bulk.length; i++) {
                Operation op = ops.get(from + i).copy();
                prepare(op);
                bulk[i] = op;
            }
            push(new Bulk(bulk));
        }
    }

    /** Operations to be pushed, and how far that has got. Confined to the pushing thread. */
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
        Worker chosen = null;
        lock();
        try {
            boolean running = core.log.isDraining() && ThreadState.runningOf(core) != null;
            while (!bulk.isDone() && !bulk.isAtAsync() && (inside || !core.log.isFull())) {
                Operation op = bulk.ops[bulk.pushed];
                Worker worker = core.dispatcher.pushed(op);
                if (worker != null) {
                    // Nobody else uses the link of a worker that was chosen and not called.
                    worker.called = chosen;
                    chosen = worker;
                }
                core.log.append(op, running);
                bulk.pushed++;
            }
            unlock();
        } catch (IllegalStateException e) {
            held = 0;
            bulk.refused = e;
        } catch (Throwable t) {
            held = 0;
            while (chosen != null) {
                Worker following = chosen.called;
                chosen.called = null;
                chosen.lane.owed = chosen;
                chosen = following;
            }
            throw t;
        }
        while (chosen != null) {
            Worker following = chosen.called;
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
        Worker worker = null;
        lock();
        try {
            if (core.log.isFull() && !inside) {
                unlock();
                return false;
            }
            boolean running = core.log.isDraining() && ThreadState.runningOf(core) != null;
            worker = core.dispatcher.pushed(op);
            core.log.append(op, running);
            unlock();
        } catch (Throwable t) {
            held = 0;
            if (worker != null) {
                worker.lane.owed = worker;
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

    /** Refuses all later pushes but those of running operations. */
    void drain() {
        lock();
        try {
            core.log.drain();
        } finally {
            held = 0;
        }
    }

    /** Refuses all later pushes. */
    void close() {
        lock();
        try {
            core.log.close();
        } finally {
            held = 0;
        }
    }

    /** Refuses all later pushes if exactly the given number of operations was pushed; returns whether it does. */
    boolean closeAt(long completed) {
        lock();
        try {
            return core.log.closeAt(completed);
        } finally {
            held = 0;
        }
    }

    /** Throws if a variable is deleted. */
    void checkNotDeleted(Variable v, String consequence) {
        boolean deleted;
        lock();
        try {
            deleted = v.deleted;
            unlock();
        } catch (Throwable t) {
            held = 0;
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

package io.seriatim.engine.core;

import io.seriatim.engine.OpKind;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.dependency.AsyncCompletion;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.Elsewhere;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Times;
import io.seriatim.engine.dependency.Variable;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.sync.Deadline;
import io.seriatim.engine.thread.WorkerThread;
import io.seriatim.engine.thread.Workplace;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What a pushing thread does: it makes all that the operation will need, appends it to the log under the push lock, and
 * calls a worker. If the engine is full it waits before.
 */
final class PushPath {
    private final EngineCore core;
    private final int maxPending;
    /** With so many operations pending, those who wait to push are woken. */
    private final long resumeAt;
    /** Threads that wait for room; guarded by the tracker lock. */
    private final List<Waiter> blocked = new ArrayList<>();

    PushPath(EngineCore core, int maxPending) {
        this.core = core;
        this.maxPending = maxPending;
        resumeAt = maxPending <= EngineCore.SMALL ? maxPending - 1L : maxPending - maxPending / 4;
    }

    void push(Operation op) {
        Recorder r = core.recorder;
        if (r != null && !op.has(Operation.UNRECORDED)) {
            op.times = new Times(r);
        }
        core.dispatcher.route(op);
        if (op.has(Operation.ASYNC_BODY)) {
            op.attachment = new AsyncCompletion(op);
        } else if (op.kind == OpKind.ASYNC) {
            op.body = new Elsewhere.Ready(op, Objects.requireNonNull(op.body));
        }
        if (op.kind == OpKind.ASYNC) {
            pushAndAdmit(op);
        } else {
            while (!append(op, false)) {
                awaitRoom();
            }
        }
        core.dispatcher.afterPush(op);
    }

    /** An operation of kind ASYNC that is ready runs on this thread, so no other thread may take it in. */
    private void pushAndAdmit(Operation op) {
        Workplace place = Workplace.here();
        while (true) {
            core.lock.enter();
            Callback others = null;
            boolean done;
            try {
                core.intake.admitAll();
                others = core.lock.lastDeferred();
                done = append(op, true);
                core.intake.admitAll();
            } finally {
                core.lock.leaveAndCall(place, others);
            }
            if (done) {
                return;
            }
            awaitRoom();
        }
    }

    /**
     * Appends an operation to the log, unless that is full. Whatever may fail comes before; once the operation stands
     * in the log nothing is thrown.
     */
    private boolean append(Operation op, boolean locked) {
        core.checkWhole();
        boolean inside = Workplace.isInside();
        WorkerThread worker = null;
        core.log.lock.lock();
        try {
            if (core.log.isFull() && !inside) {
                core.log.lock.unlock();
                return false;
            }
            worker = core.dispatcher.pushed(op);
            core.log.append(op);
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

    /** Checks that a variable may be used outside a push. */
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
     * Waits until there is room for a push, or the engine is closed. An interrupt does not end the wait: the operation
     * must not be lost.
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

    /** An operation has ended: wakes those who wait to push if there is room for some of them; under the tracker lock. */
    void ended() {
        if (!blocked.isEmpty() && core.log.pushed() - core.counts.completed() <= resumeAt) {
            resume();
        }
    }

    /** Lets those who wait to push look again; under the tracker lock. */
    void resume() {
        for (int i = 0; i < blocked.size(); i++) {
            core.lock.wake(blocked.get(i));
        }
        blocked.clear();
    }
}

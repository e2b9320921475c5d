package io.seriatim.engine;

import io.seriatim.engine.sync.Deadline;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** Implements {@code close} and {@code shutdownNow}. */
final class Closing {
    private final EngineCore core;

    Closing(EngineCore core) {
        this.core = core;
    }

    /**
     * Refuses pushes, except those of running operations, and waits until the engine has terminated and its threads
     * have ended. If the deadline passes, shuts the engine down and returns false.
     */
    boolean close(long deadline) {
        Operation inside = ThreadState.runningOf(core);
        if (inside != null) {
            throw new IllegalStateException(
                    "engine '" + core.name + "' cannot be closed inside its own operation '" + inside.name
                            + "', because it would wait for that operation: close it from outside");
        }
        core.checkWhole();
        Waiter waiter = new Waiter();
        boolean drained;
        ThreadState state = ThreadState.here();
        core.lock.enter();
        Callback others = core.lock.lastDeferred();
        try {
            core.life.drain();
            drained = core.life.addCloser(waiter);
        } finally {
            core.lock.leaveAndCall(state, others);
        }
        try {
            if (!drained) {
                takeLogIn(state);
                core.await(waiter, deadline);
                drained = true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            if (deadline == Deadline.NEVER) {
                throw stillPending();
            }
            return false;
        } catch (TimeoutException e) {
            shutdownNow();
            return false;
        } finally {
            if (!drained) {
                withdraw(waiter);
            }
        }
        return join(deadline);
    }

    /** Admits the operations that were pushed before the engine refused pushes, in case no worker can be created. */
    private void takeLogIn(ThreadState state) {
        core.logReader.admitInSlices();
        core.lock.enter();
        Callback others = core.lock.lastDeferred();
        try {
            core.logReader.admitAll();
        } finally {
            core.lock.leaveAndCall(state, others);
        }
    }

    /** Waits until the threads have ended. */
    private boolean join(long deadline) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return core.dispatcher.join(deadline);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private IllegalStateException stillPending() {
        List<EngineSnapshot.PendingOp> pending = SnapshotWalk.take(core).operations();
        String which = pending.isEmpty() ? "the last ones have just ended" : "the oldest is " + pending.get(0);
        return new IllegalStateException("close of engine '" + core.name + "' was interrupted while " + pending.size()
                + " operations were pending; " + which
                + ". They go on and the engine's threads end after them. To wait for a limited time call "
                + "close(Duration), to cancel them shutdownNow()");
    }

    private void withdraw(Waiter closer) {
        core.lock.enter();
        try {
            core.life.removeCloser(closer);
        } finally {
            core.lock.leave();
        }
    }

    /** Cancels pending operations. Operations that wait for a running one end after it, but their futures fail now. */
    void shutdownNow() {
        ThreadState state = ThreadState.here();
        core.lock.enter();
        Callback others = core.lock.lastDeferred();
        boolean begun = false;
        try {
            begun = core.life.shutDown();
        } finally {
            core.lock.leaveAndCall(state, others);
        }
        if (begun) {
            core.cancellation.call();
            takeLogIn(state);
            new FutureWalk(core).cancelFutures();
        }
    }
}

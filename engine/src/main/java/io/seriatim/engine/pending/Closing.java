package io.seriatim.engine.pending;

import io.seriatim.engine.EngineSnapshot;
import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.sync.Deadline;
import io.seriatim.engine.thread.Workplace;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** Closes an engine, in order or at once, and waits for its end. */
public final class Closing {
    private final EngineCore core;

    public Closing(EngineCore core) {
        this.core = core;
    }

    /** Refuses pushes and waits until the engine has terminated and its threads have ended; false at the deadline. */
    public boolean close(long deadline) {
        Operation inside = Workplace.runningOf(core);
        if (inside != null) {
            throw new IllegalStateException(
                    "engine '" + core.name + "' cannot be closed inside its own operation '" + inside.name
                            + "', which it would wait for: close it from outside");
        }
        core.checkWhole();
        Waiter waiter = new Waiter();
        boolean drained;
        Workplace place = Workplace.here();
        core.lock.enter();
        Callback others = core.lock.lastDeferred();
        try {
            core.life.refuse();
            drained = core.life.addCloser(waiter);
        } finally {
            core.lock.leaveAndCall(place, others);
        }
        try {
            if (!drained) {
                takeLogIn(place);
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
            return false;
        } finally {
            if (!drained) {
                withdraw(waiter);
            }
        }
        return join(deadline);
    }

    /** Takes in what was pushed before the engine refused pushes: it may be that no worker can be made. */
    private void takeLogIn(Workplace place) {
        core.intake.admitInSlices();
        core.lock.enter();
        Callback others = core.lock.lastDeferred();
        try {
            core.intake.admitAll();
        } finally {
            core.lock.leaveAndCall(place, others);
        }
    }

    /** Waits until the threads have ended, which is soon. */
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

    /**
     * Cancels what is pending. Operations that wait for a running one end after it, but their futures fail now.
     */
    public void shutdownNow() {
        Workplace place = Workplace.here();
        core.lock.enter();
        Callback others = core.lock.lastDeferred();
        boolean begun = false;
        try {
            begun = core.life.shutDown();
        } finally {
            core.lock.leaveAndCall(place, others);
        }
        if (begun) {
            core.cancellation.call();
            takeLogIn(place);
            new FutureWalk(core).cancelFutures();
        }
    }
}

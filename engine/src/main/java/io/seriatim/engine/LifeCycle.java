package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/**
 * The end of one engine: open, closing, terminated. It closes when it is told to, and terminates, once, when nothing is
 * pending any more, whoever ends the last operation; only then do its threads go. Changed under the tracker lock.
 */
final class LifeCycle {
    private final EngineCore core;
    private final List<Waiter> closers = new ArrayList<>();
    private boolean closing;
    private volatile boolean cancelled;
    private volatile boolean terminated;
    /** Whether those who close need not wait any more. */
    private boolean over;
    private final Callback end = new End();

    LifeCycle(EngineCore core) {
        this.core = core;
    }

    boolean isClosing() {
        return closing;
    }

    /** Whether it was shut down: what is pending is not to run, deletes excepted. */
    boolean isCancelled() {
        return cancelled;
    }

    /** Whether nothing is pending and nothing can be pushed. */
    boolean isTerminated() {
        return terminated;
    }

    /** Refuses pushes from now on. */
    private void refuse() {
        core.log.close();
        closing = true;
        core.intake.admitAll();
        core.resumePushers();
        ended();
    }

    /** An operation has ended: if it was the last, the engine ends. */
    void ended() {
        if (closing && !terminated && core.counts.pending() == 0 && core.log.peek() == null) {
            terminated = true;
            core.defer(end);
        }
    }

    /** Tells of failures that no one observed, lets the threads go, and those who wait for that. */
    private final class End extends Callback {
        @Override
        EngineCore owner() {
            return core;
        }

        @Override
        void call() {
            List<Failure> unobserved;
            List<Waiter> waiting;
            core.enter();
            try {
                unobserved = core.epochs.unobserved();
                waiting = List.copyOf(closers);
                closers.clear();
                over = true;
            } finally {
                core.leave();
            }
            for (Failure f : unobserved) {
                if (!f.observed) {
                    core.unhandled(new OperationFailedException(f.operation, null, f.cause));
                }
            }
            core.dispatcher.terminate();
            waiting.forEach(Waiter::signal);
        }
    }

    boolean close(long deadline) {
        Operation inside = Workplace.runningOf(core);
        if (inside != null) {
            throw new IllegalStateException(
                    "engine '" + core.name + "' cannot be closed inside its own operation '" + inside.name
                            + "', which it would wait for: close it from outside");
        }
        core.checkWhole();
        Workplace place = Workplace.here();
        Waiter waiter = new Waiter();
        boolean drained;
        core.enter();
        Callback others = core.lastDeferred();
        try {
            refuse();
            drained = over;
            if (!drained) {
                closers.add(waiter);
            }
        } finally {
            core.leaveAndCall(place, others);
        }
        try {
            if (!drained) {
                core.await(waiter, deadline);
                drained = true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            if (deadline == Dispatcher.FOREVER) {
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

    /** Waits until the threads are gone, which is soon. */
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
        core.enter();
        try {
            closers.remove(closer);
        } finally {
            core.leave();
        }
    }

    void shutdownNow() {
        Workplace place = Workplace.here();
        core.enter();
        Callback others = core.lastDeferred();
        try {
            if (cancelled || terminated) {
                return;
            }
            cancelled = true;
            refuse();
            for (Map.Entry<Operation, EngineSnapshot.State> pending : SnapshotWalk.states(core).entrySet()) {
                Operation op = pending.getKey();
                if (pending.getValue() != EngineSnapshot.State.RUNNING && core.isCancelled(op)
                        && op.attachment instanceof OpFuture<?> future) {
                    core.defer(new Cancellation(core, future, core.cancellation(op)));
                }
            }
            List<Operation> idle = new ArrayList<>(core.dispatcher.takeQueued());
            idle.addAll(core.started());
            for (Operation op : idle) {
                if (core.isCancelled(op)) {
                    core.cancel(op);
                } else if (!op.has(Operation.STARTED)) {
                    core.dispatcher.ready(op);
                }
            }
            core.settle();
            core.dispatcher.interruptRunning();
        } finally {
            core.leaveAndCall(place, others);
        }
    }

    /** Lets a future fail before its operation has ended. */
    private static final class Cancellation extends Callback {
        private final EngineCore core;
        private final OpFuture<?> future;
        private final Throwable cause;

        Cancellation(EngineCore core, OpFuture<?> future, Throwable cause) {
            this.core = core;
            this.future = future;
            this.cause = cause;
        }

        @Override
        EngineCore owner() {
            return core;
        }

        @Override
        void call() {
            future.completeExceptionally(cause);
        }
    }
}

package io.seriatim.engine.core;

import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.Failure;
import io.seriatim.engine.dependency.Owner;
import io.seriatim.engine.dependency.Waiter;
import java.util.ArrayList;
import java.util.List;

/**
 * The states of one engine: open, closing, terminated. It closes when it is told to, and terminates, once, when nothing
 * is pending any more, whichever thread ends the last operation; only then its threads end. Changed under the tracker
 * lock.
 */
public final class LifeCycle {
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

    /** Whether pushes are refused. */
    public boolean isClosing() {
        return closing;
    }

    /** Whether it was shut down: pending operations must not run, deletes excepted. */
    public boolean isCancelled() {
        return cancelled;
    }

    /** Whether nothing is pending and nothing can be pushed. */
    public boolean isTerminated() {
        return terminated;
    }

    /**
     * Refuses pushes from now on. Then all of the log is to be taken in, so that the engine terminates even if no
     * worker can be made.
     */
    public void refuse() {
        core.log.close();
        closing = true;
        core.pushes.resume();
        ended();
    }

    /**
     * Refuses pushes and cancels pending operations: those that are queued or started when the calling thread calls
     * {@link EngineCore#cancellation}, the others when they become ready. Interrupts the bodies that run.
     *
     * @return whether there is something to do: false if it was shut down before, or has terminated
     */
    public boolean shutDown() {
        if (cancelled || terminated) {
            return false;
        }
        core.cancellation.begin();
        cancelled = true;
        core.dispatcher.interruptRunning();
        refuse();
        return true;
    }

    /** An operation has ended: if it was the last, the engine terminates. */
    void ended() {
        if (closing && !terminated && core.counts.pending() == 0 && core.log.peek() == null) {
            terminated = true;
            core.lock.defer(end);
        }
    }

    /**
     * Wakes a thread that closes when the engine has terminated.
     *
     * @return whether it has terminated already
     */
    public boolean addCloser(Waiter waiter) {
        if (!over) {
            closers.add(waiter);
        }
        return over;
    }

    /** Such a thread waits no longer. */
    public void removeCloser(Waiter waiter) {
        closers.remove(waiter);
    }

    /** Reports failures that no one observed, and ends the threads and the waits of those who close. */
    private final class End extends Callback {
        @Override
        public Owner owner() {
            return core;
        }

        @Override
        public void call() {
            List<Failure> unobserved;
            List<Waiter> waiting;
            core.lock.enter();
            try {
                unobserved = core.epochs.unobserved();
                waiting = List.copyOf(closers);
                closers.clear();
                over = true;
            } finally {
                core.lock.leave();
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
}

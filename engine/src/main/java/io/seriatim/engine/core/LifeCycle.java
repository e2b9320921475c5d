package io.seriatim.engine.core;

import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.Failure;
import io.seriatim.engine.dependency.Owner;
import io.seriatim.engine.dependency.Waiter;
import java.util.ArrayList;
import java.util.List;

/**
 * The states of one engine: open, closing, terminated. {@code close} and {@code shutdownNow} make it closing. It
 * becomes terminated when the last pending operation has ended, on whichever thread that happens, and then its threads
 * end. Changed under the tracker lock.
 */
public final class LifeCycle {
    private final EngineCore core;
    private final List<Waiter> closers = new ArrayList<>();
    private boolean closing;
    private volatile boolean cancelled;
    private volatile boolean terminated;
    /** Whether threads in {@code close} need not wait any more. */
    private boolean over;
    private final Callback end = new End();

    LifeCycle(EngineCore core) {
        this.core = core;
    }

    /** Returns whether pushes are refused. */
    public boolean isClosing() {
        return closing;
    }

    /** Returns whether the engine was shut down, so that pending operations other than deletes must not run. */
    public boolean isCancelled() {
        return cancelled;
    }

    /** Returns whether no operation is pending and none can be pushed. */
    public boolean isTerminated() {
        return terminated;
    }

    /**
     * Refuses pushes from now on. The caller must then admit the whole log, so that the engine terminates even if no
     * worker can be created.
     */
    public void refuse() {
        core.log.close();
        closing = true;
        core.pushes.resume();
        ended();
    }

    /**
     * Refuses pushes and cancels pending operations: the queued and started ones when the calling thread calls
     * {@link EngineCore#cancellation}, the others when they become ready. Interrupts running bodies.
     *
     * @return false if the engine was shut down before or has terminated
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

    /** Terminates a closing engine if its last operation has ended. */
    void ended() {
        if (closing && !terminated && core.counts.pending() == 0 && core.log.peek() == null) {
            terminated = true;
            core.lock.defer(end);
        }
    }

    /**
     * Registers a thread in {@code close}, which is woken when the engine has terminated.
     *
     * @return true if the engine has already terminated
     */
    public boolean addCloser(Waiter waiter) {
        if (!over) {
            closers.add(waiter);
        }
        return over;
    }

    /** Removes a thread that no longer waits in {@code close}. */
    public void removeCloser(Waiter waiter) {
        closers.remove(waiter);
    }

    /** Reports failures that nobody observed, ends the engine's threads, and wakes the threads in {@code close}. */
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

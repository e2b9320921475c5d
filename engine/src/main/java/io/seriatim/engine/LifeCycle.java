package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The states of one engine: open, closing, terminated. {@code close} and {@code shutdownNow} make it closing. It
 * becomes terminated when the last pending operation has ended, on whichever thread that happens, and then its threads
 * end. Guarded by the tracker lock.
 *
 * <p>
 * <b>Idle.</b> An engine is idle when all pushed operations have ended. A running operation pushes before it ends, so
 * what it pushed is in the log when its end is reported, and the engine is not idle in between. The last end is checked
 * for waiting threads and closers. Before a closing engine terminates, it refuses all pushes under the push lock, in
 * the same step in which it finds that none came meanwhile.
 */
final class LifeCycle {
    private final EngineCore core;
    private final List<Waiter> closers = new ArrayList<>();
    /** The threads that wait until the engine is idle. */
    private final WaiterList idlers = new WaiterList();
    /** Whether ends of operations must be checked: a thread waits until the engine is idle, or it is closing. */
    private boolean watched;
    private boolean closing;
    private volatile boolean cancelled;
    private volatile boolean terminated;
    /** Whether threads in {@code close} need not wait any more. */
    private boolean over;
    private final Callback end = new End();
    /** Created in advance, because memory may be exhausted when it is needed. */
    private final Consumer<Waiter> wake;

    LifeCycle(EngineCore core) {
        this.core = core;
        wake = core.lock::wake;
    }

    /** Returns whether pushes from outside the engine's operations are refused. */
    boolean isClosing() {
        return closing;
    }

    /** Returns whether the engine was shut down, so that pending operations other than deletes must not run. */
    boolean isCancelled() {
        return cancelled;
    }

    /** Returns whether no operation is pending and none can be pushed. */
    boolean isTerminated() {
        return terminated;
    }

    /**
     * Refuses pushes from now on, except those of running operations. The caller must then admit the whole log, so that
     * the engine terminates even if no worker can be created.
     */
    void drain() {
        assert core.lock.isHeldByCurrentThread();
        core.pushes.drain();
        refused();
    }

    private void refused() {
        closing = true;
        watched = true;
        core.pushes.resume();
        ended();
    }

    /**
     * Refuses pushes and cancels pending operations: the queued and started ones when the calling thread calls
     * {@link EngineCore#cancellation}, the others when they become ready. Interrupts running bodies.
     *
     * @return false if the engine was shut down before or has terminated
     */
    boolean shutDown() {
        assert core.lock.isHeldByCurrentThread();
        if (cancelled || terminated) {
            return false;
        }
        // First, because an interrupted body may push at once.
        core.pushes.close();
        core.cancellation.begin();
        cancelled = true;
        core.dispatcher.interruptRunning();
        refused();
        return true;
    }

    /** Called when an operation has ended: terminates a closing engine, and ends waits, if it was the last one. */
    void ended() {
        if (watched && core.rules.isIdle(core.log.pushed(), core.counts.completed(), core.counts.admitted())) {
            core.epochs.takeFailures();
            idlers.removeAll(wake);
            if (closing && !terminated && core.pushes.closeAt(core.counts.completed())) {
                terminated = true;
                core.lock.defer(end);
            }
            watched = closing;
        }
    }

    /**
     * Begins a wait until the engine is idle.
     *
     * @return true if it is idle now
     */
    boolean addIdler(Waiter waiter) {
        assert core.lock.isHeldByCurrentThread();
        if (core.log.pushed() == core.counts.completed()) {
            core.epochs.takeFailures();
            return true;
        }
        idlers.add(waiter);
        watched = true;
        return false;
    }

    /** Abandons such a wait, unless it has ended. */
    void removeIdler(Waiter waiter) {
        assert core.lock.isHeldByCurrentThread();
        idlers.remove(waiter);
        watched = closing || !idlers.isEmpty();
    }

    /**
     * Registers a thread in {@code close}, which is woken when the engine has terminated.
     *
     * @return true if the engine has already terminated
     */
    boolean addCloser(Waiter waiter) {
        assert core.lock.isHeldByCurrentThread();
        if (!over) {
            closers.add(waiter);
        }
        return over;
    }

    /** Removes a thread that no longer waits in {@code close}. */
    void removeCloser(Waiter waiter) {
        assert core.lock.isHeldByCurrentThread();
        closers.remove(waiter);
    }

    /** Reports failures that nobody observed, ends the engine's threads, and wakes the threads in {@code close}. */
    private final class End extends Callback {
        @Override
        EngineCore owner() {
            return core;
        }

        @Override
        void call() {
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

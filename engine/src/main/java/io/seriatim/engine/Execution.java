package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The part of an operation's life from ready to ended. A ready operation is handed to the dispatcher, skipped or
 * cancelled. An ended operation releases its variables, completes its future, and is reported to its recorder and to
 * waiting threads. Callers hold the tracker lock, except of methods whose comment says that they acquire it.
 */
final class Execution {
    private final EngineCore core;
    private final Tracker tracker;
    /** Represents failures that could not be allocated for lack of memory; created in advance. */
    private final Failure noMemory = new Failure("an operation whose name could not be kept",
            new OutOfMemoryError("no memory was left to keep the failure of an operation"));
    /** Ready operations that end without being run. */
    private final CallbackQueue settled = new CallbackQueue();
    /**
     * Operations that are neither in a queue nor held by a worker: started asynchronous ones, and ready ones of kind
     * ASYNC.
     */
    final UnqueuedOperation.Links unqueued = new UnqueuedOperation.Links();
    /** Walks that observe operations becoming ready. */
    private final List<ReadyListener> listeners = new ArrayList<>();
    /** Guarded by the tracker lock. */
    private boolean traced;
    /** The number of waits for variables that have begun and not ended. Guarded by the tracker lock. */
    int probes;

    Execution(EngineCore core, Tracker tracker) {
        this.core = core;
        this.tracker = tracker;
    }

    /** Handles an operation that the tracker has found ready. */
    void ready(Operation op) {
        assert core.lock.isHeldByCurrentThread();
        if ((op.flags & (Operation.OFF_MAIN | Operation.PROBE)) == 0) {
            core.counts.mainReady();
        } else if (op.has(Operation.OFF_MAIN)) {
            op.flags &= ~Operation.OFF_MAIN;
            core.counts.offMainReady();
        }
        if (!listeners.isEmpty()) {
            for (int i = 0; i < listeners.size(); i++) {
                listeners.get(i).becameReady(op);
            }
        }
        if (op.times != null) {
            op.times.ready(op);
        }
        if (traced) {
            tellTraces(op);
        }
        if (isCancelled(op)) {
            core.cancellation.add(op);
        } else if (op.has(Operation.IMMEDIATE)
                || (!op.has(Operation.EVEN_IF_FAILED) && tracker.poison(op) >= 0)) {
            settled.add(op);
        } else if (op.kind == OpKind.ASYNC) {
            unqueued.add(UnqueuedOperation.of(op));
            core.lock.defer(op);
        } else {
            core.dispatcher.ready(op);
        }
    }

    private static void tellTraces(Operation op) {
        for (int i = 0; i < op.count; i++) {
            VarTrace trace = op.vars[i].state().trace;
            if (trace != null) {
                trace.ready(op, i);
            }
        }
    }

    /** Records that some variable is traced from now on. */
    void traced() {
        traced = true;
    }

    /** Returns whether an operation must not run because the engine was shut down. */
    boolean isCancelled(Operation op) {
        return core.life.isCancelled() && op.kind != OpKind.DELETE && !op.has(Operation.IMMEDIATE);
    }

    /**
     * Ends the ready operations that do not run. Uses a list instead of recursion, because a chain of them may have a
     * million operations.
     */
    void settle() {
        Operation op;
        while ((op = (Operation) settled.poll()) != null) {
            if (op.has(Operation.IMMEDIATE)) {
                finish(op, Recorder.Outcome.COMPLETED, null);
            } else {
                op.flags |= Operation.SKIPPED;
                core.counts.skipped++;
                int place = tracker.poison(op);
                Failure failure = place < 0 ? null : op.vars[place].failure();
                if (failure != null && op.attachment instanceof OpFuture<?> future) {
                    future.skippedBy(failure, op.vars[place]);
                }
                finish(op, Recorder.Outcome.SKIPPED, failure);
            }
        }
    }

    /** Ends an operation because the engine was shut down. */
    void cancel(Operation op) {
        if (op.has(Operation.HELPER)) {
            GraphRun.released(op);
            return;
        }
        Failure failure = cancelled(op);
        op.flags |= Operation.SKIPPED;
        core.counts.cancelled++;
        failedWith(op, failure);
        finish(op, Recorder.Outcome.CANCELLED, failure);
    }

    /**
     * Creates the failure of an operation or, if memory is exhausted, returns the shared instance; with or without the
     * tracker lock.
     */
    Failure failure(Operation op, Throwable thrown) {
        try {
            Failure failure = new Failure(op.name, thrown);
            // The caller of shutdownNow asked for it, so it is not reported as a failure that nobody observed.
            failure.observed = core.life.isCancelled() && Interruptions.isStop(thrown);
            return failure;
        } catch (VirtualMachineError e) {
            return noMemory;
        }
    }

    /** Creates the failure of an operation that the engine's shutdown prevents; with or without the tracker lock. */
    Failure cancelled(Operation op) {
        try {
            Failure failure = new Failure(op.name, cancellation(op));
            failure.observed = true;
            return failure;
        } catch (VirtualMachineError e) {
            return noMemory;
        }
    }

    /** Creates the exception of a cancelled operation's future. */
    CancellationException cancellation(Operation op) {
        return new CancellationException(
                "engine '" + core.name + "' was shut down before operation '" + op.name + "' had ended");
    }

    private static void failedWith(Operation op, Failure failure) {
        Epoch e = op.epoch;
        if (e != null) {
            e.merged().failures.add(failure);
        }
        if (op.attachment instanceof OpFuture<?> future) {
            future.failed(failure);
        }
    }

    /** Ends an operation whose body has returned or thrown, or whose completion was called. */
    private void ended(Operation op, @Nullable Throwable thrown) {
        if (op.has(Operation.ENDED)) {
            // shutdownNow has already cancelled it.
            return;
        }
        Failure failure = null;
        if (thrown != null) {
            failure = failure(op, thrown);
            core.counts.failed++;
            failedWith(op, failure);
        } else if (op.has(Operation.GRAPH)) {
            membersFailed(op);
        }
        finish(op, failure == null ? Recorder.Outcome.COMPLETED : Recorder.Outcome.FAILED, failure);
        settle();
    }

    /** Records the failures of the operations of a graph, which counts as one operation. */
    private void membersFailed(Operation op) {
        GraphRun graph = (GraphRun) Objects.requireNonNull(op.body);
        if (!graph.isMarred()) {
            return;
        }
        boolean any = false;
        for (int i = 0; i < graph.size(); i++) {
            Failure failure = graph.takeFailure(i);
            if (failure != null) {
                failedWith(op, failure);
                any = true;
            }
        }
        if (any && core.life.isCancelled()) {
            core.counts.cancelled++;
        } else if (any) {
            core.counts.failed++;
        }
    }

    /** Ends an operation whose completion was called; acquires the tracker lock. */
    void complete(Operation op, @Nullable Throwable thrown) {
        ThreadState state = ThreadState.here();
        Callback others = null;
        core.lock.enterShallow();
        try {
            core.logReader.admitAll();
            others = core.lock.lastDeferred();
            ended(op, thrown);
        } finally {
            core.lock.leaveAndCall(state, others);
        }
    }

    /** Cancels an operation that was about to run when the engine was shut down; acquires the tracker lock. */
    void giveUp(Operation op) {
        ThreadState state = ThreadState.here();
        core.lock.enterShallow();
        Callback others = core.lock.lastDeferred();
        try {
            if (!op.has(Operation.ENDED)) {
                cancel(op);
                settle();
            }
        } finally {
            core.lock.leaveAndCall(state, others);
        }
    }

    /** Records that an operation is about to run. */
    void starts(Operation op) {
        assert core.lock.isHeldByCurrentThread();
        if (op.has(Operation.ASYNC_BODY)) {
            unqueued.add(UnqueuedOperation.of(op));
        }
    }

    /** Handles an operation whose body has returned or thrown. */
    void ran(Operation op, @Nullable Throwable thrown) {
        if (op.has(Operation.HELPER)) {
            GraphRun.released(op);
        } else if (op.has(Operation.ASYNC_BODY) && thrown == null) {
            returned(op);
        } else {
            if (op.attachment instanceof AsyncCompletion completion) {
                // For lack of stack, AsyncCompletion.start could not report the failure itself.
                completion.giveUp();
            }
            ended(op, thrown);
        }
    }

    /** As {@link #ran}; acquires the tracker lock. */
    void bodyReturned(Operation op, @Nullable Throwable thrown) {
        ThreadState state = ThreadState.here();
        Callback others = null;
        core.lock.enterShallow();
        try {
            core.logReader.admitAll();
            others = core.lock.lastDeferred();
            ran(op, thrown);
        } finally {
            core.lock.leaveAndCall(state, others);
        }
    }

    private void returned(Operation op) {
        if (!op.has(Operation.ENDED)) {
            op.flags |= Operation.STARTED;
            if (isCancelled(op)) {
                cancel(op);
                settle();
            }
        }
    }

    private void finish(Operation op, Recorder.Outcome outcome, @Nullable Failure failure) {
        assert core.lock.isHeldByCurrentThread();
        try {
            release(op, outcome, failure);
        } catch (Throwable t) {
            core.markBroken(t);
            throw t;
        }
    }

    private void release(Operation op, Recorder.Outcome outcome, @Nullable Failure failure) {
        op.flags |= Operation.ENDED;
        Object attachment = op.attachment;
        if (op.has(Operation.PROBE)) {
            probes--;
            Waiter waiter = (Waiter) Objects.requireNonNull(attachment);
            waiter.failure = op.vars[0].failure();
            waiter.done = true;
            tracker.release(op, null);
            core.lock.wake(waiter);
            return;
        }
        boolean tells = false;
        Times times = op.times;
        if (times != null) {
            times.end();
            times.outcome = outcome;
            tells = !times.told;
        }
        tracker.release(op, failure);
        if (op.has(Operation.ASYNC_BODY) || op.kind == OpKind.ASYNC) {
            unqueued.remove(UnqueuedOperation.of(op));
        }
        op.body = null;
        if (attachment instanceof OpFuture<?> future) {
            future.end();
            tells = true;
        }
        if (tells) {
            core.lock.defer(op);
        }
        core.counts.complete();
        core.epochs.ended(Objects.requireNonNull(op.epoch));
        // A reference to the future must not keep all later epochs reachable.
        op.epoch = null;
        core.pushes.ended();
        core.life.ended();
    }

    /** Passes each operation that is neither in a queue nor held by the dispatcher to {@code look}. */
    void forEachUnqueued(Consumer<Operation> look) {
        unqueued.forEach(look);
    }

    /** Registers a listener for operations that become ready from now on. */
    void attach(ReadyListener listener) {
        listeners.add(listener);
    }

    /** Removes a listener. */
    void detach(ReadyListener listener) {
        listeners.remove(listener);
    }
}

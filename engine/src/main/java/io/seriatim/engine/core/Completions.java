package io.seriatim.engine.core;

import io.seriatim.engine.OpKind;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.dependency.AsyncCompletion;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.CallbackQueue;
import io.seriatim.engine.dependency.Elsewhere;
import io.seriatim.engine.dependency.Epoch;
import io.seriatim.engine.dependency.Failure;
import io.seriatim.engine.dependency.OpFuture;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Times;
import io.seriatim.engine.dependency.Tracker;
import io.seriatim.engine.dependency.VarTrace;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.thread.Workplace;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What happens to an operation from when it is ready to when it has ended: it is handed to the dispatcher, or skipped,
 * or cancelled; when it ends, its variables, its future, its recorder and those who wait are told. Guarded by the
 * tracker lock, except where a method says that it takes it.
 */
public final class Completions {
    private final EngineCore core;
    private final Tracker tracker;
    /** Stands for failures that there was no memory to keep; made while there is. */
    private final Failure noMemory = new Failure("an operation whose name could not be kept",
            new OutOfMemoryError("no memory was left to keep the failure of an operation"));
    /** Operations that are ready and end without being run. */
    private final CallbackQueue settled = new CallbackQueue();
    /** Operations that neither wait in a queue nor are held by a worker: started asynchronous ones, and kind ASYNC. */
    final Elsewhere.Ring elsewhere = new Elsewhere.Ring();
    /** Walks that are told of what becomes ready. */
    private final List<ReadyListener> listeners = new ArrayList<>();
    private boolean traced;
    /** Waits for variables that have begun and not ended. */
    int probes;

    Completions(EngineCore core, Tracker tracker) {
        this.core = core;
        this.tracker = tracker;
    }

    /** The tracker found an operation ready. */
    void ready(Operation op) {
        if (op.has(Operation.OFF_MAIN)) {
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
            elsewhere.add(Elsewhere.of(op));
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

    /** A variable is traced from now on. */
    public void traced() {
        traced = true;
    }

    /** Whether an operation must not run because the engine was shut down. */
    public boolean isCancelled(Operation op) {
        return core.life.isCancelled() && op.kind != OpKind.DELETE && !op.has(Operation.IMMEDIATE);
    }

    /**
     * Ends the operations that are ready and do not run. A list instead of a recursion: a million of them may follow
     * each other.
     */
    public void settle() {
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
    public void cancel(Operation op) {
        Failure failure = cancelled(op);
        op.flags |= Operation.SKIPPED;
        core.counts.cancelled++;
        failedWith(op, failure);
        finish(op, Recorder.Outcome.CANCELLED, failure);
    }

    /** The failure of an operation; if there is no memory to keep it, one that stands for all such. */
    private Failure failure(Operation op, Throwable thrown) {
        try {
            return new Failure(op.name, thrown);
        } catch (VirtualMachineError e) {
            return noMemory;
        }
    }

    private Failure cancelled(Operation op) {
        try {
            Failure failure = new Failure(op.name, cancellation(op));
            failure.observed = true;
            return failure;
        } catch (VirtualMachineError e) {
            return noMemory;
        }
    }

    /** What the future of a cancelled operation throws. */
    public CancellationException cancellation(Operation op) {
        return new CancellationException(
                "engine '" + core.name + "' was shut down before operation '" + op.name + "' had ended");
    }

    private static void failedWith(Operation op, Failure failure) {
        Epoch e = op.epoch;
        if (e != null) {
            e.whole().failures.add(failure);
        }
        if (op.attachment instanceof OpFuture<?> future) {
            future.failed(failure);
        }
    }

    /** The body of an operation has ended, or its completion was called. */
    private void ended(Operation op, @Nullable Throwable thrown) {
        if (op.has(Operation.ENDED)) {
            // Cancelled before by shutdownNow.
            return;
        }
        Failure failure = null;
        if (thrown != null) {
            failure = failure(op, thrown);
            core.counts.failed++;
            failedWith(op, failure);
        }
        finish(op, failure == null ? Recorder.Outcome.COMPLETED : Recorder.Outcome.FAILED, failure);
        settle();
    }

    /** Ends an operation whose completion was called; takes the tracker lock. */
    void complete(Operation op, @Nullable Throwable thrown) {
        Workplace place = Workplace.here();
        Callback others = null;
        core.lock.enterShallow();
        try {
            core.intake.admitAll();
            others = core.lock.lastDeferred();
            ended(op, thrown);
        } finally {
            core.lock.leaveAndCall(place, others);
        }
    }

    /** Cancels an operation that was about to run when the engine was shut down; takes the tracker lock. */
    void giveUp(Operation op) {
        Workplace place = Workplace.here();
        core.lock.enterShallow();
        Callback others = core.lock.lastDeferred();
        try {
            if (!op.has(Operation.ENDED)) {
                cancel(op);
                settle();
            }
        } finally {
            core.lock.leaveAndCall(place, others);
        }
    }

    /** An operation is about to be run. */
    public void starts(Operation op) {
        if (op.has(Operation.ASYNC_BODY)) {
            elsewhere.add(Elsewhere.of(op));
        }
    }

    /** The body of an operation has returned. */
    public void ran(Operation op, @Nullable Throwable thrown) {
        if (op.has(Operation.ASYNC_BODY) && thrown == null) {
            returned(op);
        } else {
            if (op.attachment instanceof AsyncCompletion completion) {
                // Its start could not even tell its failure, for want of stack.
                completion.giveUp();
            }
            ended(op, thrown);
        }
    }

    /** As {@link #ran}; takes the tracker lock. */
    void ranElsewhere(Operation op, @Nullable Throwable thrown) {
        Workplace place = Workplace.here();
        Callback others = null;
        core.lock.enterShallow();
        try {
            core.intake.admitAll();
            others = core.lock.lastDeferred();
            ran(op, thrown);
        } finally {
            core.lock.leaveAndCall(place, others);
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
        try {
            release(op, outcome, failure);
        } catch (Throwable t) {
            core.broke(t);
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
            elsewhere.remove(Elsewhere.of(op));
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
        // Whoever keeps its future must not keep all later epochs.
        op.epoch = null;
        core.pushes.ended();
        core.life.ended();
    }

    /** Shows the operations that neither wait in a queue nor are held by the dispatcher. */
    void forEachElsewhere(Consumer<Operation> look) {
        elsewhere.forEach(look);
    }

    /** Tells a listener of what becomes ready from now on. */
    public void attach(ReadyListener listener) {
        listeners.add(listener);
    }

    /** Ends that. */
    public void detach(ReadyListener listener) {
        listeners.remove(listener);
    }
}

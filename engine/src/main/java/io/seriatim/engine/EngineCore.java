package io.seriatim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One engine: the log of pushes, the tracker, and who runs what is ready. {@link DependencyEngine} is the handle that
 * users hold.
 *
 * <p>
 * <b>Two locks.</b> Pushing threads append to the {@link PushLog} under its lock, and do nothing else. Everything about
 * dependencies belongs to whoever holds the <i>tracker lock</i>, a spin lock that is taken by {@link #enter} and
 * given back by {@link #leave}: a worker takes it between two bodies, a thread that completes an asynchronous operation
 * or begins to wait takes it for a moment. A push never takes the tracker lock, a completion never the push lock; where
 * both are needed, to send a worker to sleep or to wake one, the tracker lock is taken first.
 *
 * <p>
 * <b>Nothing of the user's runs under either.</b> Bodies run while their thread holds neither. Wake-ups ({@link #wake},
 * {@link #callLater}) are put off until the tracker lock is released and done at once then. A {@link Callback} may
 * block, wait, push or close, so a thread calls it only when it holds nothing that another could run: a worker between
 * two operations, its batch given back; a thread that completes an operation or closes the engine, when all that is
 * internal is done, for what it has ended itself. A thread that waits leaves the callbacks that it has not called yet
 * to others.
 *
 * <p>
 * <b>Order.</b> An operation takes its place when it is appended. {@link LogReader} takes the log in, in that order and
 * only as far as it must; a wait begins when all that was pushed before it has been taken in.
 *
 * <p>
 * docs/synchronization.md has the whole map.
 */
final class EngineCore {
    static {
        // Classes whose initialization would fail for good where it is first met: at the end of a stack, or of the
        // memory.
        for (Class<?> type : List.of(Operation.class, OpQueue.class, SpinLock.class, Counts.class, VarState.class,
                Batch.class,
                Worker.class,
                Failure.class, Failures.class, Waiter.class, WaiterList.class, OpFuture.class, AsyncCompletion.class,
                Elsewhere.Ready.class,
                CallbackQueue.class, Reserve.class, Workplace.class, Recorder.Outcome.class, EngineSnapshot.State.class,
                VarEvent.Kind.class,
                OpKind.class, Lane.Queue.class, OperationFailedException.class)) {
            try {
                MethodHandles.lookup().ensureInitialized(type);
            } catch (IllegalAccessException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    /** With fewer operations pending at most, a batch is too much to keep back from a thread that waits to push. */
    private static final int SMALL = 1024;

    final String name;
    final boolean checked;
    final Dispatcher dispatcher;
    final Counts counts;
    final Attention attention = new Attention();
    final PushLog log;
    final Waits waits = new Waits(this);
    final Rules rules;
    final int firstIndex;
    private final Consumer<? super Throwable> onUnhandled;
    private final int maxPending;
    private final long resumeAt;
    private final SpinLock trackerLock = new SpinLock();
    private final Tracker tracker = new Tracker(this::ready);
    /** Stands for failures where there was no memory to keep them; made while there is. */
    private final Failure noMemory = new Failure("an operation whose name could not be kept",
            new OutOfMemoryError("no memory was left to keep the failure of an operation"));
    /** Set once; a leaked engine's threads end when it is collected. */
    private WeakReference<Engine> handle = new WeakReference<>(null);

    volatile @Nullable Recorder recorder;
    /** What the engine itself has failed with. */
    volatile @Nullable Throwable broken;
    /** How often neither the handler nor the log could be told of something. */
    private final AtomicInteger untold = new AtomicInteger();
    /** How long a walk over what is pending holds the tracker lock. */
    volatile long sliceNanos = PendingWalk.SLICE_NANOS;

    // From here on guarded by the tracker lock.
    /** Waits that have not ended. */
    private int probes;
    private boolean traced;
    /** Pictures that are being taken. */
    private @Nullable SnapshotWalk walks;
    final Epochs epochs = new Epochs(this);
    final LogReader intake;
    final LifeCycle life = new LifeCycle(this);
    private final CallbackQueue settled = new CallbackQueue();
    /** What is to be told to users and has no thread yet that tells it. */
    private final CallbackQueue deferred = new CallbackQueue();
    /** Threads to be woken, and workers to be called, when the tracker lock is released. */
    private @Nullable Waiter woken;
    private @Nullable Worker called;
    private final List<Waiter> blockedPushers = new ArrayList<>();
    /**
     * What neither waits in a queue nor is in a worker's hands: started asynchronous operations, and those of kind
     * ASYNC.
     */
    private final Elsewhere.Ring elsewhere = new Elsewhere.Ring();

    EngineCore(EngineBuilder description) {
        name = description.name;
        checked = description.checked;
        rules = description.rules;
        firstIndex = description.firstIndex;
        counts = new Counts(description.firstOrder);
        onUnhandled = description.onUnhandled;
        maxPending = description.maxPending;
        log = new PushLog(name, counts, attention, maxPending, rules);
        resumeAt = maxPending <= SMALL ? maxPending - 1L : maxPending - maxPending / 4;
        recorder = description.recorder;
        intake = new LogReader(this, tracker, maxPending < SMALL);
        dispatcher = description.dispatcher(this);
        if (maxPending < SMALL) {
            attention.want();
        }
    }

    void handle(Engine engine) {
        handle = new WeakReference<>(engine);
    }

    // --- pushing

    /** Checks that a variable is one of this engine's. */
    Variable own(Var var) {
        if (var instanceof Variable variable && variable.core == this) {
            return variable;
        }
        Objects.requireNonNull(var, "variable");
        String whose = var instanceof Variable foreign
                ? "of engine '" + foreign.core.name + "'"
                : "no engine's (" + var.getClass().getName() + ")";
        throw new IllegalArgumentException(
                "variable '" + var.name() + "' is " + whose + ", not of engine '" + name
                        + "': use variables made by this engine's newVar");
    }

    void push(Operation op) {
        Recorder r = recorder;
        if (r != null && !op.has(Operation.UNRECORDED)) {
            op.times = new Times(r);
        }
        dispatcher.route(op);
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
        dispatcher.afterPush(op);
    }

    /** An operation of kind ASYNC runs here if it is ready, so no other thread may take it in. */
    private void pushAndAdmit(Operation op) {
        Workplace place = Workplace.here();
        while (true) {
            enter();
            Callback others = null;
            boolean done;
            try {
                intake.admitAll();
                others = lastDeferred();
                done = append(op, true);
                intake.admitAll();
            } finally {
                leaveAndCall(place, others);
            }
            if (done) {
                return;
            }
            awaitRoom();
        }
    }

    /**
     * Appends an operation to the log, unless that is full. What it needs is made before; once it stands in the log
     * nothing is thrown.
     */
    private boolean append(Operation op, boolean hasRole) {
        checkWhole();
        boolean inside = Workplace.isInside();
        Worker worker = null;
        log.lock.lock();
        try {
            if (log.isFull() && !inside) {
                log.lock.unlock();
                return false;
            }
            worker = dispatcher.pushed(op);
            log.append(op);
            log.lock.unlock();
        } catch (Throwable t) {
            log.lock.held = 0;
            if (worker != null) {
                worker.lane.owed = worker;
            }
            throw t;
        }
        if (worker != null) {
            if (hasRole) {
                callLater(worker);
            } else {
                dispatcher.call(worker);
            }
        }
        return true;
    }

    /** Checks that a variable may be used outside a push. */
    void checkNotDeleted(Variable v, String consequence) {
        boolean deleted;
        log.lock.lock();
        try {
            deleted = v.deleted;
            log.lock.unlock();
        } catch (Throwable t) {
            log.lock.held = 0;
            throw t;
        }
        if (deleted) {
            throw log.deleted(v, consequence);
        }
    }

    /**
     * Waits until there is room for a push, or the engine is closed. An interrupt does not end it: the operation is not
     * to be lost.
     */
    private void awaitRoom() {
        Waiter waiter = new Waiter();
        enter();
        try {
            if (life.isClosing() || log.pushed() - counts.completed() < maxPending) {
                return;
            }
            blockedPushers.add(waiter);
        } finally {
            leave();
        }
        uninterruptibly(waiter);
    }

    /** Waits. If this thread is a worker, of whatever engine, another may take its place meanwhile. */
    void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException {
        Workplace place = Workplace.here();
        boolean bouncing = place.handOver();
        try {
            Worker worker = place.worker;
            if (worker == null) {
                dispatcher.await(waiter, deadline);
                return;
            }
            worker.block();
            try {
                dispatcher.await(waiter, deadline);
            } finally {
                worker.unblock();
            }
        } finally {
            place.resume(bouncing);
        }
    }

    private void uninterruptibly(Waiter waiter) {
        boolean interrupted = false;
        while (!waiter.done) {
            try {
                await(waiter, Dispatcher.FOREVER);
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (TimeoutException e) {
                throw Waits.endless(e);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // --- the tracker lock

    /**
     * Takes the tracker lock. Users call this as deep in their stacks as they like: what cannot be done to its end is
     * not begun.
     */
    void enter() {
        Reserve.take();
        trackerLock.lock();
    }

    /** As {@link #enter}, for a thread of the engine's that runs nothing. */
    void enterShallow() {
        trackerLock.lock();
    }

    /** Takes the tracker lock if no one holds it. */
    boolean tryEnter() {
        return trackerLock.tryLock();
    }

    /**
     * Releases the tracker lock, and then wakes those who wait and calls workers; what is to be told to users is left
     * to a worker that holds nothing, or, where there are no workers, done by this thread.
     */
    void leave() {
        @Nullable
        Workplace place;
        try {
            // The first call in a thread makes its place, for which there may be no memory.
            place = dispatcher.balance() ? Workplace.here() : null;
        } catch (Throwable t) {
            exit();
            throw t;
        }
        if (place == null) {
            exit();
            return;
        }
        Callback stop = place.callbacks.first();
        place.callbacks.prependThoseAfter(null, deferred);
        exit();
        place.call(this, stop);
        dispatcher.left();
    }

    /**
     * As {@link #leave}, and then calls what was put off under the tracker lock since a certain callback: its
     * operations have been ended by this thread's own doing, so who called it expects them to be told of when it
     * returns.
     */
    void leaveAndCall(Workplace place, @Nullable Callback since) {
        Callback stop = place.callbacks.first();
        place.callbacks.prependThoseAfter(since, deferred);
        boolean all = false;
        try {
            all = dispatcher.balance();
        } catch (Throwable t) {
            exit();
            throw t;
        }
        if (all) {
            place.callbacks.prependThoseAfter(null, deferred);
        }
        exit();
        place.call(this, stop);
        if (all) {
            dispatcher.left();
        }
    }

    /** Leaves a callback to whichever thread comes by. */
    void leaveToOthers(Callback callback) {
        enterShallow();
        defer(callback);
        try {
            dispatcher.leftToOthers();
        } finally {
            exit();
        }
    }

    /** Releases the tracker lock, wakes those who wait, and calls workers. */
    void exit() {
        Waiter waiter = woken;
        Worker worker = called;
        woken = null;
        called = null;
        trackerLock.unlock();
        while (worker != null) {
            Worker following = worker.called;
            worker.called = null;
            dispatcher.call(worker);
            worker = following;
        }
        while (waiter != null) {
            Waiter following = waiter.woken;
            waiter.woken = null;
            waiter.signal();
            waiter = following;
        }
    }

    /** Wakes a thread when the tracker lock is released; once. */
    void wake(Waiter waiter) {
        waiter.woken = woken;
        woken = waiter;
    }

    /** Calls a worker when the tracker lock is released. */
    void callLater(Worker worker) {
        worker.called = called;
        called = worker;
    }

    /** Puts off what is to be told to users; under the tracker lock. */
    void defer(Callback callback) {
        deferred.add(callback);
    }

    boolean hasDeferred() {
        return !deferred.isEmpty();
    }

    /** The last callback that was put off by now; under the tracker lock. */
    @Nullable
    Callback lastDeferred() {
        return deferred.last();
    }

    /** Takes a callback to be called; under the tracker lock. */
    @Nullable
    Callback pollDeferred() {
        return deferred.poll();
    }

    /** Calls what is not an operation's body; what it throws is no one's result. */
    void guard(Callback callback) {
        try {
            callback.call();
        } catch (Throwable t) {
            unhandled(t);
        }
    }

    /** Tells the handler; throws nothing, because whoever calls this has other things to do. */
    @SuppressWarnings("ReferenceEquality") // A throwable cannot suppress itself.
    void unhandled(Throwable t) {
        try {
            try {
                onUnhandled.accept(t);
                int lost = untold.getAndSet(0);
                if (lost > 0) {
                    EngineBuilder.log(name, new IllegalStateException(
                            lost + " earlier failures could not be reported, for want of memory or stack"));
                }
            } catch (Throwable second) {
                if (second != t) {
                    second.addSuppressed(t);
                }
                EngineBuilder.log(name, second);
            }
        } catch (Throwable third) {
            // Neither the handler nor the log could be told, for want of memory or stack: there is no one left.
            untold.incrementAndGet();
        }
    }

    /** A worker was wanted and there was no memory to make it. */
    void pickFailed() {
        untold.incrementAndGet();
    }

    /** The engine itself has failed between two changes of state: from now on every push and every wait says so. */
    void broke(Throwable cause) {
        if (broken == null) {
            broken = cause;
            log.broke();
        }
    }

    /** What a push or a wait throws if the engine is broken. */
    void checkWhole() {
        Throwable cause = broken;
        if (cause != null) {
            throw new IllegalStateException("engine '" + name
                    + "' is broken: an error has come between two of its own steps, so it can run and wait for "
                    + "nothing any more; make a new one",
                    cause);
        }
    }

    /** Takes in a wait, which has no place in the log, unless it was given up before. */
    void admit(Operation probe) {
        if (!probe.has(Operation.ENDED)) {
            probes++;
            attention.want();
            probe.order = counts.position;
            tracker.admit(probe);
        }
    }

    /** Begins a wait until a variable's operations have ended, all pushed before having been taken in. */
    void drain(Drain drain) {
        if (drain.waiter.done) {
            return;
        }
        // Nothing behind this place has been taken early, so a lower order means taken in.
        drain.end = counts.position;
        if (tracker.drain(drain)) {
            probes++;
            attention.want();
        } else {
            drain.waiter.done = true;
            wake(drain.waiter);
        }
    }

    /** Such a wait has ended. */
    void drained(Drain drain) {
        probes--;
        drain.remaining = 0;
        wake(drain.waiter);
    }

    /** Gives such a wait up; it may not have begun. */
    void withdraw(Drain drain) {
        if (drain.remaining > 0) {
            probes--;
            drain.remaining = 0;
            Tracker.withdraw(drain);
        }
        drain.waiter.done = true;
    }

    /** Gives a wait up; it may not have been taken in. */
    void withdraw(Operation probe) {
        if (!probe.has(Operation.ENDED)) {
            if (probe.waiting > 0) {
                probes--;
            }
            probe.flags |= Operation.ENDED;
            tracker.withdraw(probe);
            settle();
        }
    }

    /** The tracker found an operation ready. */
    private void ready(Operation op) {
        if (op.has(Operation.OFF_MAIN)) {
            op.flags &= ~Operation.OFF_MAIN;
            counts.offMainReady();
        }
        for (SnapshotWalk walk = walks; walk != null; walk = walk.next) {
            walk.becameReady(op);
        }
        if (op.times != null) {
            op.times.ready(op);
        }
        if (traced) {
            tellTraces(op);
        }
        if (op.has(Operation.IMMEDIATE) || isCancelled(op)
                || (!op.has(Operation.EVEN_IF_FAILED) && tracker.poison(op) >= 0)) {
            settled.add(op);
        } else if (op.kind == OpKind.ASYNC) {
            elsewhere.add(Elsewhere.of(op));
            defer(op);
        } else {
            dispatcher.ready(op);
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

    /** A variable is followed from now on; under the tracker lock. */
    void traced() {
        traced = true;
    }

    /** Whether an operation is not to run because the engine was shut down. */
    boolean isCancelled(Operation op) {
        return life.isCancelled() && op.kind != OpKind.DELETE && !op.has(Operation.IMMEDIATE);
    }

    /**
     * Ends the operations that are ready and do not run. A list, not a recursion: a million of them may follow each
     * other.
     */
    void settle() {
        Operation op;
        while ((op = (Operation) settled.poll()) != null) {
            if (op.has(Operation.IMMEDIATE)) {
                finish(op, Recorder.Outcome.COMPLETED, null);
            } else if (isCancelled(op)) {
                cancel(op);
            } else {
                op.flags |= Operation.SKIPPED;
                counts.skipped++;
                int place = tracker.poison(op);
                Failure failure = place < 0 ? null : op.vars[place].failure();
                if (failure != null && op.attachment instanceof OpFuture<?> future) {
                    future.skippedBy(failure, op.vars[place]);
                }
                finish(op, Recorder.Outcome.SKIPPED, failure);
            }
        }
    }

    void cancel(Operation op) {
        Failure failure = cancelled(op);
        op.flags |= Operation.SKIPPED;
        counts.cancelled++;
        failedWith(op, failure);
        finish(op, Recorder.Outcome.CANCELLED, failure);
    }

    /** What made an operation fail; if there is no memory even for that, a failure that is not its own. */
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

    CancellationException cancellation(Operation op) {
        return new CancellationException(
                "engine '" + name + "' was shut down before operation '" + op.name + "' had ended");
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

    /** The body of an operation has ended, or its completion was called; under the tracker lock. */
    void ended(Operation op, @Nullable Throwable thrown) {
        if (op.has(Operation.ENDED)) {
            // Given up by shutdownNow: late.
            return;
        }
        Failure failure = null;
        if (thrown != null) {
            failure = failure(op, thrown);
            counts.failed++;
            failedWith(op, failure);
        }
        finish(op, failure == null ? Recorder.Outcome.COMPLETED : Recorder.Outcome.FAILED, failure);
        settle();
    }

    /** As {@link #ended}, from a thread that does not hold the tracker lock. */
    void complete(Operation op, @Nullable Throwable thrown) {
        Workplace place = Workplace.here();
        Callback others = null;
        enterShallow();
        try {
            intake.admitAll();
            others = lastDeferred();
            ended(op, thrown);
        } finally {
            leaveAndCall(place, others);
        }
    }

    /** Ends an operation that was about to run when the engine was shut down. */
    void giveUp(Operation op) {
        Workplace place = Workplace.here();
        enterShallow();
        Callback others = lastDeferred();
        try {
            if (!op.has(Operation.ENDED)) {
                cancel(op);
                settle();
            }
        } finally {
            leaveAndCall(place, others);
        }
    }

    /** An operation is about to be run. */
    void starts(Operation op) {
        if (op.has(Operation.ASYNC_BODY)) {
            elsewhere.add(Elsewhere.of(op));
        }
    }

    /** The body of an operation was run; under the tracker lock. */
    void ran(Operation op, @Nullable Throwable thrown) {
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

    /** As {@link #ran}, from a thread that does not hold the tracker lock. */
    void ranElsewhere(Operation op, @Nullable Throwable thrown) {
        Workplace place = Workplace.here();
        Callback others = null;
        enterShallow();
        try {
            intake.admitAll();
            others = lastDeferred();
            ran(op, thrown);
        } finally {
            leaveAndCall(place, others);
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
            broke(t);
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
            wake(waiter);
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
            defer(op);
        }
        counts.complete();
        epochs.ended(Objects.requireNonNull(op.epoch));
        // Whoever keeps its future is not to keep all later epochs.
        op.epoch = null;
        if (!blockedPushers.isEmpty() && log.pushed() - counts.completed() <= resumeAt) {
            resumePushers();
        }
        life.ended();
    }

    /** Whether someone waits for a variable; under the tracker lock. */
    boolean hasWaits() {
        return probes > 0;
    }

    /** Lets those who wait to push look again. */
    void resumePushers() {
        for (int i = 0; i < blockedPushers.size(); i++) {
            wake(blockedPushers.get(i));
        }
        blockedPushers.clear();
    }

    /** Started operations whose completion has not been called. */
    List<Operation> started() {
        List<Operation> started = new ArrayList<>();
        elsewhere.forEach(op -> {
            if (op.has(Operation.STARTED)) {
                started.add(op);
            }
        });
        return started;
    }

    // --- looking

    /**
     * Shows each operation that is not waiting for a variable, with its state and, if it is known, the thread that runs
     * it; under the tracker lock, log taken in.
     */
    void forEachReady(Dispatcher.Look look) {
        dispatcher.forEach(look);
        elsewhere.forEach(op -> {
            look.at(op, op.has(Operation.STARTED) ? EngineSnapshot.State.STARTED : EngineSnapshot.State.RUNNING, null);
        });
    }

    /** Tells a walk of what becomes ready from now on; under the tracker lock. */
    void attach(SnapshotWalk walk) {
        walk.next = walks;
        walks = walk;
    }

    void detach(SnapshotWalk walk) {
        SnapshotWalk before = null;
        SnapshotWalk w = walks;
        while (w != null && w != walk) {
            before = w;
            w = w.next;
        }
        if (before == null) {
            walks = walk.next;
        } else {
            before.next = walk.next;
        }
    }

    EngineStats stats() {
        enter();
        try {
            return new EngineStats(log.pushed(), counts.completed(), counts.failed, counts.skipped, counts.cancelled,
                    dispatcher.threads());
        } finally {
            leave();
        }
    }

    /** Whether no one can push or wait any more, and nothing is pending; under the tracker lock. */
    boolean isAbandoned() {
        return handle.get() == null && counts.pending() == 0;
    }
}

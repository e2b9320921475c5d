package io.seriatim.engine.core;

import io.seriatim.engine.Engine;
import io.seriatim.engine.EngineSnapshot;
import io.seriatim.engine.EngineStats;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OpKind;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.PreparedOp;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.VarEvent;
import io.seriatim.engine.dependency.AsyncCompletion;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.CallbackQueue;
import io.seriatim.engine.dependency.Dependencies;
import io.seriatim.engine.dependency.Drain;
import io.seriatim.engine.dependency.EngineFuture;
import io.seriatim.engine.dependency.Failure;
import io.seriatim.engine.dependency.Failures;
import io.seriatim.engine.dependency.OpFuture;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Owner;
import io.seriatim.engine.dependency.Rules;
import io.seriatim.engine.dependency.Tracker;
import io.seriatim.engine.dependency.UnqueuedOperation;
import io.seriatim.engine.dependency.VarState;
import io.seriatim.engine.dependency.Variable;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.dependency.WaiterList;
import io.seriatim.engine.log.BatchPreemption;
import io.seriatim.engine.log.Counts;
import io.seriatim.engine.log.PushLog;
import io.seriatim.engine.queue.OpQueue;
import io.seriatim.engine.sync.ClassInitialization;
import io.seriatim.engine.sync.SpinLock;
import io.seriatim.engine.sync.StackReserve;
import io.seriatim.engine.thread.ThreadState;
import io.seriatim.engine.thread.WorkerThread;
import java.lang.ref.WeakReference;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One engine: it combines the push log, the tracker, and the dispatcher that runs ready operations. {@link Engine} is
 * the handle that users hold.
 *
 * <p>
 * <b>Two locks.</b> A pushing thread only appends to the {@link PushLog}, under its lock ({@link PushPath}). The
 * {@link TrackerLock} guards all state about dependencies: a worker acquires it between two bodies, and a thread that
 * completes an asynchronous operation or begins to wait acquires it briefly. A push does not acquire the tracker lock,
 * except for an operation of kind ASYNC or to wait for room. Where both locks are needed, to send a worker to sleep or
 * to wake one, the tracker lock is acquired first.
 *
 * <p>
 * <b>No user code runs under a lock.</b> A thread that runs a body holds neither lock. Wake-ups
 * ({@link TrackerLock#wake}, {@link TrackerLock#callLater}) are deferred until the tracker lock is released, and then
 * happen at once. A {@link Callback} may block, wait, push or close, so a thread calls it only when it holds no
 * operation that another thread could run: a worker calls it between two operations, after it has returned its batch; a
 * thread that completes an operation or closes the engine calls the callbacks of the operations that it has ended,
 * after all internal work. A thread that waits hands its remaining callbacks to other threads.
 *
 * <p>
 * <b>Order.</b> An operation gets its position in the push order when it is appended. {@link LogReader} reads the log
 * in that order, only as far as needed, and passes the operations to the tracker. A wait begins when all operations
 * that were pushed before it have been admitted.
 *
 * <p>
 * docs/synchronization.md lists all locks and the fields that they guard.
 */
public final class EngineCore extends Owner {
    static {
        ClassInitialization.ensure(Operation.class, OpQueue.class, SpinLock.class, Counts.class, VarState.class,
                Failure.class, Failures.class, Waiter.class, WaiterList.class, EngineFuture.class, OpFuture.class,
                AsyncCompletion.class,
                UnqueuedOperation.Ready.class, CallbackQueue.class, StackReserve.class, ThreadState.class,
                Recorder.Outcome.class,
                EngineSnapshot.State.class, VarEvent.Kind.class, OpKind.class, Lane.Queue.class,
                OperationFailedException.class);
    }

    /**
     * If fewer operations may be pending, workers do not keep batches, because each pending operation may hold up a
     * thread that waits to push.
     */
    static final int SMALL = 1024;
    /** The default of {@link #sliceNanos}. */
    public static final long SLICE_NANOS = 500_000;

    public final Dispatcher dispatcher;
    public final Counts counts;
    public final BatchPreemption preemption = new BatchPreemption();
    public final PushLog log;
    public final Rules rules;
    public final int firstIndex;
    public final TrackerLock lock = new TrackerLock(this);
    public final LogReader logReader;
    public final Completions completions;
    public final Epochs epochs = new Epochs(this);
    public final LifeCycle life = new LifeCycle(this);
    public final Cancellation cancellation = new Cancellation(this);
    final PushPath pushes;
    private final Tracker tracker;
    private final FutureWaits futures;
    private final UnhandledFailures unhandled;
    /** The number of waits registered so far; guarded by the tracker lock. */
    private long registeredWaits;
    /**
     * The user's handle, set once. If the handle is garbage collected, the threads of the engine end even if it was not
     * closed.
     */
    private WeakReference<Engine> handle = new WeakReference<>(null);

    public volatile @Nullable Recorder recorder;
    /** The error that broke the engine, or null. */
    public volatile @Nullable Throwable broken;
    /** The time slice, in nanoseconds, for which a walk over pending operations holds the tracker lock. */
    public volatile long sliceNanos = SLICE_NANOS;

    /**
     * Creates an engine.
     *
     * @param dispatchers
     *            creates its dispatcher
     * @param waits
     *            creates the implementation of waits for its futures
     */
    public EngineCore(Settings settings, Function<EngineCore, Dispatcher> dispatchers,
            Function<EngineCore, FutureWaits> waits) {
        super(settings.name(), settings.checked());
        rules = settings.rules();
        firstIndex = settings.firstIndex();
        counts = new Counts(settings.firstOrder());
        unhandled = new UnhandledFailures(name, settings.onUnhandled());
        int maxPending = settings.maxPending();
        log = new PushLog(name, counts, preemption, maxPending, rules);
        pushes = new PushPath(this, maxPending);
        recorder = settings.recorder();
        tracker = new Tracker(this::ready);
        completions = new Completions(this, tracker);
        logReader = new LogReader(this, tracker, maxPending < SMALL);
        futures = waits.apply(this);
        dispatcher = dispatchers.apply(this);
        if (maxPending < SMALL) {
            preemption.request();
        }
    }

    private void ready(Operation op) {
        completions.ready(op);
    }

    /** Sets the handle that users hold. */
    public void handle(Engine engine) {
        handle = new WeakReference<>(engine);
    }

    /** Returns whether the user's handle is unreachable and no operation is pending; under the tracker lock. */
    public boolean isAbandoned() {
        return handle.get() == null && counts.pending() == 0;
    }

    @Override
    public void push(Operation op) {
        pushes.push(op);
    }

    /** Pushes operations in their order, with few acquisitions of the push lock. */
    public void pushAll(PreparedOp[] ops) {
        pushes.pushAll(ops);
    }

    /** Throws if a variable is deleted. */
    public void checkNotDeleted(Variable v, String consequence) {
        pushes.checkNotDeleted(v, consequence);
    }

    @Override
    public void runHere(Operation op) {
        ThreadState.here().trampoline(op);
    }

    @Override
    public void prepareCompletion() {
        StackReserve.check();
        ThreadState.here();
    }

    @Override
    public void complete(Operation op, @Nullable Throwable thrown) {
        completions.complete(op, thrown);
    }

    @Override
    public void bodyReturned(Operation op, @Nullable Throwable thrown) {
        completions.bodyReturned(op, thrown);
    }

    @Override
    public boolean isCancelled(Operation op) {
        return completions.isCancelled(op);
    }

    @Override
    public void giveUp(Operation op) {
        completions.giveUp(op);
    }

    @Override
    public void awaitFuture(EngineFuture<?> future, Dependencies on, long deadline)
            throws InterruptedException, TimeoutException {
        futures.forFuture(future, on, deadline);
    }

    /** Waits for the waiter. If this thread is a worker of any engine, another worker may take its place meanwhile. */
    public void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException {
        ThreadState state = ThreadState.here();
        boolean inTrampoline = state.handOver();
        try {
            WorkerThread worker = state.worker;
            if (worker == null) {
                if (Thread.currentThread() instanceof ForkJoinWorkerThread) {
                    new CompensatedWait(waiter, deadline).await();
                } else {
                    dispatcher.await(waiter, deadline);
                }
                return;
            }
            worker.block();
            try {
                dispatcher.await(waiter, deadline);
            } finally {
                worker.unblock();
            }
        } finally {
            state.resume(inTrampoline);
        }
    }

    /**
     * A wait in a thread of a fork/join pool, which may run another thread meanwhile: the function of an asynchronous
     * stage may wait for a stage that the same pool has to run.
     */
    private final class CompensatedWait implements ForkJoinPool.ManagedBlocker {
        private final Waiter waiter;
        private final long deadline;
        private boolean begun;
        private @Nullable TimeoutException timeout;

        CompensatedWait(Waiter waiter, long deadline) {
            this.waiter = waiter;
            this.deadline = deadline;
        }

        void await() throws InterruptedException, TimeoutException {
            try {
                ForkJoinPool.managedBlock(this);
            } catch (RejectedExecutionException e) {
                if (begun) {
                    throw e;
                }
                // The pool has as many threads as it may have: wait without compensation, as a lock would.
                dispatcher.await(waiter, deadline);
            }
            if (timeout != null) {
                throw timeout;
            }
        }

        @Override
        public boolean block() throws InterruptedException {
            begun = true;
            try {
                dispatcher.await(waiter, deadline);
            } catch (TimeoutException e) {
                timeout = e;
            }
            return true;
        }

        @Override
        public boolean isReleasable() {
            return waiter.done;
        }
    }

    // --- the tracker lock, and calls deferred under it

    @Override
    public void enter() {
        lock.enter();
    }

    @Override
    public void exit() {
        lock.exit();
    }

    @Override
    public void defer(Callback callback) {
        lock.defer(callback);
    }

    @Override
    public @Nullable Callback pollDeferred() {
        return lock.pollDeferred();
    }

    @Override
    public void leaveToOthers(Callback callback) {
        lock.leaveToOthers(callback);
    }

    @Override
    public void guard(Callback callback) {
        unhandled.guard(callback);
    }

    @Override
    public void unhandled(Throwable t) {
        unhandled.tell(t);
    }

    @Override
    public boolean hasWorkers() {
        return dispatcher.hasWorkers();
    }

    /** Counts the error that a worker could not be created for lack of memory. */
    public void pickFailed() {
        unhandled.countUntold();
    }

    // --- a broken engine

    /**
     * Marks the engine as broken by an error between two changes of state. From now on every push and every wait
     * throws.
     */
    public void markBroken(Throwable cause) {
        if (broken == null) {
            broken = cause;
            log.markBroken();
        }
    }

    /** Throws if the engine is broken. */
    public void checkWhole() {
        Throwable cause = broken;
        if (cause != null) {
            throw new IllegalStateException("engine '" + name
                    + "' is broken: an error interrupted a change of its own state, so it can neither run "
                    + "operations nor wait for them; create a new engine",
                    cause);
        }
    }

    // --- waits for variables, under the tracker lock

    /** Returns the next number of a wait inside an operation. */
    public long nextWait() {
        return ++registeredWaits;
    }

    /** Returns whether any thread waits for a variable. */
    boolean hasWaits() {
        return completions.probes > 0;
    }

    /** Admits a wait, which is not in the log, unless it has been abandoned. */
    public void admit(Operation probe) {
        if (!probe.has(Operation.ENDED)) {
            completions.probes++;
            preemption.request();
            probe.order = counts.position;
            tracker.admit(probe);
        }
    }

    /** Abandons a wait, which may or may not have been admitted. */
    public void withdraw(Operation probe) {
        if (!probe.has(Operation.ENDED)) {
            if (probe.waiting > 0) {
                completions.probes--;
            }
            probe.flags |= Operation.ENDED;
            tracker.withdraw(probe);
            completions.settle();
        }
    }

    /**
     * Begins a wait until a variable's operations have ended. All operations pushed before the wait have been admitted.
     */
    public void drain(Drain drain) {
        if (drain.waiter.done) {
            return;
        }
        // No operation behind this position has been admitted early, so every admitted operation has a lower order.
        drain.end = counts.position;
        if (tracker.drain(drain)) {
            completions.probes++;
            preemption.request();
        } else {
            drain.waiter.done = true;
            lock.wake(drain.waiter);
        }
    }

    @Override
    public void drained(Drain drain) {
        completions.probes--;
        drain.remaining = 0;
        lock.wake(drain.waiter);
    }

    /** Abandons such a wait, which may or may not have begun. */
    public void withdraw(Drain drain) {
        if (drain.remaining > 0) {
            completions.probes--;
            drain.remaining = 0;
            Tracker.withdraw(drain);
        }
        drain.waiter.done = true;
    }

    // --- looking

    /**
     * Passes each operation that does not wait for a variable to {@code look}; under the tracker lock, after the log
     * has been read.
     */
    public void forEachReady(Dispatcher.Look look) {
        dispatcher.forEach(look);
        cancellation.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
        completions.forEachUnqueued(op -> look.at(op,
                op.has(Operation.STARTED) ? EngineSnapshot.State.STARTED : EngineSnapshot.State.RUNNING, null));
    }

    /** Returns counts of the engine's operations. */
    public EngineStats stats() {
        lock.enter();
        try {
            return new EngineStats(log.pushed(), counts.completed(), counts.failed, counts.skipped, counts.cancelled,
                    dispatcher.threads());
        } finally {
            lock.leave();
        }
    }
}

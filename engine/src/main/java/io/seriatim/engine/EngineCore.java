package io.seriatim.engine;

import io.seriatim.engine.sync.ClassInitialization;
import io.seriatim.engine.sync.SpinLock;
import io.seriatim.engine.sync.StackReserve;
import java.lang.invoke.MethodHandles;
import java.lang.ref.WeakReference;
import java.util.Objects;
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
final class EngineCore {
    static {
        ClassInitialization.ensure(MethodHandles.lookup(), Operation.class, OpQueue.class, SpinLock.class, Counts.class,
                VarState.class,
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
    static final long SLICE_NANOS = 500_000;

    /** The engine's name, used in messages. */
    final String name;
    /** Whether guarded values check that the operation which accesses them has declared their variable. */
    final boolean checked;
    final Dispatcher dispatcher;
    final Counts counts;
    final BatchPreemption preemption = new BatchPreemption();
    final PushLog log;
    final Rules rules;
    final int firstIndex;
    final TrackerLock lock = new TrackerLock(this);
    final Waits waits = new Waits(this);
    final LogReader logReader;
    final Execution execution;
    final Epochs epochs = new Epochs(this);
    final LifeCycle life = new LifeCycle(this);
    final Cancellation cancellation = new Cancellation(this);
    final PushPath pushes;
    private final Tracker tracker;
    private final UnhandledFailures unhandled;
    /** The number of waits registered so far; guarded by the tracker lock. */
    private long registeredWaits;
    /**
     * The user's handle, set once. If the handle is garbage collected, the threads of the engine end even if it was not
     * closed. Constant after the handle was created.
     */
    private WeakReference<Engine> handle = new WeakReference<>(null);

    volatile @Nullable Recorder recorder;
    /** The error that broke the engine, or null. */
    volatile @Nullable Throwable broken;
    /** The time slice, in nanoseconds, for which a walk over pending operations holds the tracker lock. */
    volatile long sliceNanos = SLICE_NANOS;

    /**
     * Creates an engine.
     *
     * @param dispatchers
     *            creates its dispatcher
     */
    EngineCore(Settings settings, Function<EngineCore, Dispatcher> dispatchers) {
        name = settings.name();
        checked = settings.checked();
        rules = settings.rules();
        firstIndex = settings.firstIndex();
        counts = new Counts(settings.firstOrder());
        unhandled = new UnhandledFailures(name, settings.onUnhandled());
        int maxPending = settings.maxPending();
        log = new PushLog(name, counts, preemption, maxPending, rules);
        pushes = new PushPath(this, maxPending);
        recorder = settings.recorder();
        tracker = new Tracker(this::ready);
        execution = new Execution(this, tracker);
        logReader = new LogReader(this, tracker, maxPending < SMALL);
        dispatcher = dispatchers.apply(this);
        if (maxPending < SMALL) {
            preemption.request();
        }
    }

    private void ready(Operation op) {
        execution.ready(op);
    }

    /** Sets the handle that users hold. */
    void handle(Engine engine) {
        handle = new WeakReference<>(engine);
    }

    /** Returns whether the user's handle is unreachable and no operation is pending; under the tracker lock. */
    boolean isAbandoned() {
        return handle.get() == null && counts.pending() == 0;
    }

    /** Returns the given variable if it belongs to this engine, and throws otherwise. */
    @SuppressWarnings("ReferenceEquality") // Engines are compared by identity.
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

    /** Waits for the waiter. If this thread is a worker of any engine, another worker may take its place meanwhile. */
    void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException {
        ThreadState state = ThreadState.here();
        boolean inTrampoline = state.handOver();
        try {
            Worker worker = state.worker;
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
     * stage may wait for a stage that the same pool has to run. Confined to the waiting thread.
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

    // --- failures without another observer

    /** Calls a callback and passes its exception, if any, to the handler of unhandled failures; under no lock. */
    void guard(Callback callback) {
        unhandled.guard(callback);
    }

    /** Passes a failure that has no other observer to the handler of unhandled failures; never throws. */
    void unhandled(Throwable t) {
        unhandled.tell(t);
    }

    /** Counts the error that a worker could not be created for lack of memory. */
    void pickFailed() {
        unhandled.countUntold();
    }

    // --- a broken engine

    /**
     * Marks the engine as broken by an error between two changes of state. From now on every push and every wait
     * throws.
     */
    void markBroken(Throwable cause) {
        if (broken == null) {
            broken = cause;
            log.markBroken();
        }
    }

    /** Throws if the engine is broken. */
    void checkWhole() {
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
    long nextWait() {
        assert lock.isHeldByCurrentThread();
        return ++registeredWaits;
    }

    /** Returns whether any thread waits for a variable. */
    boolean hasWaits() {
        return execution.probes > 0;
    }

    /** Admits a wait, which is not in the log, unless it has been abandoned. */
    void admit(Operation probe) {
        assert lock.isHeldByCurrentThread();
        if (!probe.has(Operation.ENDED)) {
            execution.probes++;
            preemption.request();
            probe.order = counts.position;
            tracker.admit(probe);
        }
    }

    /** Abandons a wait, which may or may not have been admitted. */
    void withdraw(Operation probe) {
        assert lock.isHeldByCurrentThread();
        if (!probe.has(Operation.ENDED)) {
            if (probe.waiting > 0) {
                execution.probes--;
            }
            probe.flags |= Operation.ENDED;
            tracker.withdraw(probe);
            execution.settle();
        }
    }

    /**
     * Begins a wait until a variable's operations have ended. All operations pushed before the wait have been admitted.
     */
    void drain(Drain drain) {
        assert lock.isHeldByCurrentThread();
        if (drain.waiter.done) {
            return;
        }
        // No operation behind this position has been admitted early, so every admitted operation has a lower order.
        drain.end = counts.position;
        if (tracker.drain(drain)) {
            execution.probes++;
            preemption.request();
        } else {
            drain.waiter.done = true;
            lock.wake(drain.waiter);
        }
    }

    /** Ends a wait for all operations on a variable; under the tracker lock. */
    void drained(Drain drain) {
        execution.probes--;
        drain.remaining = 0;
        lock.wake(drain.waiter);
    }

    /** Abandons such a wait, which may or may not have begun. */
    void withdraw(Drain drain) {
        assert lock.isHeldByCurrentThread();
        if (drain.remaining > 0) {
            execution.probes--;
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
    void forEachReady(Dispatcher.Look look) {
        dispatcher.forEach((op, state, thread) -> {
            if (!op.has(Operation.HELPER)) {
                look.at(op, state, thread);
            }
        });
        cancellation.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
        execution.forEachUnqueued(op -> look.at(op,
                op.has(Operation.STARTED) ? EngineSnapshot.State.STARTED : EngineSnapshot.State.RUNNING, null));
    }

    /** Returns counts of the engine's operations. */
    EngineStats stats() {
        lock.enter();
        try {
            return new EngineStats(log.pushed(), counts.completed(), counts.failed, counts.skipped, counts.cancelled,
                    dispatcher.threads());
        } finally {
            lock.leave();
        }
    }
}

package io.seriatim.engine.core;

import io.seriatim.engine.Engine;
import io.seriatim.engine.EngineSnapshot;
import io.seriatim.engine.EngineStats;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OpKind;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.VarEvent;
import io.seriatim.engine.dependency.AsyncCompletion;
import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.CallbackQueue;
import io.seriatim.engine.dependency.Drain;
import io.seriatim.engine.dependency.Elsewhere;
import io.seriatim.engine.dependency.Failure;
import io.seriatim.engine.dependency.Failures;
import io.seriatim.engine.dependency.OpFuture;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Owner;
import io.seriatim.engine.dependency.Rules;
import io.seriatim.engine.dependency.Tracker;
import io.seriatim.engine.dependency.VarState;
import io.seriatim.engine.dependency.Variable;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.dependency.WaiterList;
import io.seriatim.engine.log.Attention;
import io.seriatim.engine.log.Counts;
import io.seriatim.engine.log.PushLog;
import io.seriatim.engine.queue.OpQueue;
import io.seriatim.engine.sync.Initialized;
import io.seriatim.engine.sync.Reserve;
import io.seriatim.engine.sync.SpinLock;
import io.seriatim.engine.thread.WorkerThread;
import io.seriatim.engine.thread.Workplace;
import java.lang.ref.WeakReference;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One engine: joins the log of pushes, the tracker, and the dispatcher that runs what is ready. {@link Engine} is the
 * handle that users hold.
 *
 * <p>
 * <b>Two locks.</b> Pushing threads append to the {@link PushLog} under its lock ({@link PushPath}), and do nothing
 * else. Everything about dependencies belongs to the holder of the {@link TrackerLock}: a worker takes it between two
 * bodies, a thread that completes an asynchronous operation or begins to wait takes it for a moment. A push never takes
 * the tracker lock, a completion never the push lock; where both are needed, to send a worker to sleep or to wake one,
 * the tracker lock is taken first.
 *
 * <p>
 * <b>No code of the user's runs under either.</b> Bodies run while their thread holds neither lock. Wake-ups
 * ({@link TrackerLock#wake}, {@link TrackerLock#callLater}) are put off until the tracker lock is released, and done at
 * once then. A {@link Callback} may block, wait, push or close, so a thread calls it only when it holds nothing that
 * another thread could run: a worker calls it between two operations, after its batch was given back; a thread that
 * completes an operation or closes the engine calls the callbacks of what it has ended, after all internal work. A
 * thread that waits leaves the callbacks that it has not called yet to other threads.
 *
 * <p>
 * <b>Order.</b> An operation takes its place in the serial program when it is appended. {@link LogReader} takes the log
 * in, in that order and only as far as it must; a wait begins when all that was pushed before it has been taken in.
 *
 * <p>
 * docs/synchronization.md has the whole map.
 */
public final class EngineCore extends Owner {
    static {
        Initialized.ensure(Operation.class, OpQueue.class, SpinLock.class, Counts.class, VarState.class,
                Failure.class, Failures.class, Waiter.class, WaiterList.class, OpFuture.class, AsyncCompletion.class,
                Elsewhere.Ready.class, CallbackQueue.class, Reserve.class, Workplace.class, Recorder.Outcome.class,
                EngineSnapshot.State.class, VarEvent.Kind.class, OpKind.class, Lane.Queue.class,
                OperationFailedException.class);
    }

    /** With fewer operations pending at most, a batch is too much to keep back from a thread that waits to push. */
    static final int SMALL = 1024;
    /** The usual {@link #sliceNanos}. */
    public static final long SLICE_NANOS = 500_000;

    public final Dispatcher dispatcher;
    public final Counts counts;
    public final Attention attention = new Attention();
    public final PushLog log;
    public final Rules rules;
    public final int firstIndex;
    public final TrackerLock lock = new TrackerLock(this);
    public final LogReader intake;
    public final Completions completions;
    public final Epochs epochs = new Epochs(this);
    public final LifeCycle life = new LifeCycle(this);
    public final Cancellation cancellation = new Cancellation(this);
    final PushPath pushes;
    private final Tracker tracker;
    private final FutureWaits futures;
    private final UnhandledFailures unhandled;
    /** Guarded by the tracker lock. */
    private long registeredWaits;
    /** Set once. When the handle was collected, the threads of an engine that was not closed end. */
    private WeakReference<Engine> handle = new WeakReference<>(null);

    public volatile @Nullable Recorder recorder;
    /** The error that the engine itself has failed with. */
    public volatile @Nullable Throwable broken;
    /** How long a walk over pending operations holds the tracker lock at a time. */
    public volatile long sliceNanos = SLICE_NANOS;

    /**
     * Makes an engine.
     *
     * @param dispatchers
     *            makes what runs its operations
     * @param waits
     *            makes what waits for its futures
     */
    public EngineCore(Settings settings, Function<EngineCore, Dispatcher> dispatchers,
            Function<EngineCore, FutureWaits> waits) {
        super(settings.name(), settings.checked());
        rules = settings.rules();
        firstIndex = settings.firstIndex();
        counts = new Counts(settings.firstOrder());
        unhandled = new UnhandledFailures(name, settings.onUnhandled());
        int maxPending = settings.maxPending();
        log = new PushLog(name, counts, attention, maxPending, rules);
        pushes = new PushPath(this, maxPending);
        recorder = settings.recorder();
        tracker = new Tracker(this::ready);
        completions = new Completions(this, tracker);
        intake = new LogReader(this, tracker, maxPending < SMALL);
        futures = waits.apply(this);
        dispatcher = dispatchers.apply(this);
        if (maxPending < SMALL) {
            attention.want();
        }
    }

    private void ready(Operation op) {
        completions.ready(op);
    }

    /** Sets the handle that users hold. */
    public void handle(Engine engine) {
        handle = new WeakReference<>(engine);
    }

    /** Whether no one can push or wait any more, and nothing is pending; under the tracker lock. */
    public boolean isAbandoned() {
        return handle.get() == null && counts.pending() == 0;
    }

    @Override
    public void push(Operation op) {
        pushes.push(op);
    }

    /** Checks that a variable may be used outside a push. */
    public void checkNotDeleted(Variable v, String consequence) {
        pushes.checkNotDeleted(v, consequence);
    }

    @Override
    public void runHere(Operation op) {
        Workplace.here().bounce(op);
    }

    @Override
    public void prepareCompletion() {
        Reserve.take();
        Workplace.here();
    }

    @Override
    public void complete(Operation op, @Nullable Throwable thrown) {
        completions.complete(op, thrown);
    }

    @Override
    public void ranElsewhere(Operation op, @Nullable Throwable thrown) {
        completions.ranElsewhere(op, thrown);
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
    public void awaitFuture(OpFuture<?> future, Operation op, long deadline)
            throws InterruptedException, TimeoutException {
        futures.forFuture(future, op, deadline);
    }

    /** Waits. If this thread is a worker, of whatever engine, another may take its place meanwhile. */
    public void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException {
        Workplace place = Workplace.here();
        boolean bouncing = place.handOver();
        try {
            WorkerThread worker = place.worker;
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

    // --- the tracker lock, and what is put off under it

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

    /** A worker was wanted and there was no memory to make it. */
    public void pickFailed() {
        unhandled.countUntold();
    }

    // --- a broken engine

    /** The engine itself has failed between two changes of state: from now on every push and every wait says so. */
    public void broke(Throwable cause) {
        if (broken == null) {
            broken = cause;
            log.broke();
        }
    }

    /** Throws if the engine is broken. */
    public void checkWhole() {
        Throwable cause = broken;
        if (cause != null) {
            throw new IllegalStateException("engine '" + name
                    + "' is broken: an error has come between two of its own steps, so it can run and wait for "
                    + "nothing any more; make a new one",
                    cause);
        }
    }

    // --- waits for variables, under the tracker lock

    /** The number of a wait inside an operation, in the order in which such waits are registered. */
    public long nextWait() {
        return ++registeredWaits;
    }

    /** Whether someone waits for a variable. */
    boolean hasWaits() {
        return completions.probes > 0;
    }

    /** Takes in a wait, which has no place in the log, unless it was given up before. */
    public void admit(Operation probe) {
        if (!probe.has(Operation.ENDED)) {
            completions.probes++;
            attention.want();
            probe.order = counts.position;
            tracker.admit(probe);
        }
    }

    /** Gives a wait up; it may not have been taken in. */
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

    /** Begins a wait until a variable's operations have ended; all pushed before have been taken in. */
    public void drain(Drain drain) {
        if (drain.waiter.done) {
            return;
        }
        // Nothing behind this place has been taken early, so a lower order means taken in.
        drain.end = counts.position;
        if (tracker.drain(drain)) {
            completions.probes++;
            attention.want();
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

    /** Gives such a wait up; it may not have begun. */
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
     * Shows each operation that is not waiting for a variable, with its state and, if it is known, the thread that runs
     * it; under the tracker lock, log taken in.
     */
    public void forEachReady(Dispatcher.Look look) {
        dispatcher.forEach(look);
        cancellation.forEach(op -> look.at(op, EngineSnapshot.State.READY, null));
        completions.forEachElsewhere(op -> look.at(op,
                op.has(Operation.STARTED) ? EngineSnapshot.State.STARTED : EngineSnapshot.State.RUNNING, null));
    }

    /** Counts what the engine has done. */
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

package io.seriatim.engine;

import io.seriatim.engine.sync.SpinLock;
import io.seriatim.engine.sync.StackReserve;
import org.jspecify.annotations.Nullable;

/**
 * The tracker lock of one engine, and the actions that are deferred until it is released: threads to wake, workers to
 * start or wake, and callbacks. A thread that releases the lock by {@link #leave}, {@link #leaveAndCall} or
 * {@link #exit} performs the wake-ups at once. The three methods differ in which thread calls the callbacks.
 */
final class TrackerLock {
    private final EngineCore core;
    private final SpinLock lock = new SpinLock();

    /** Callbacks that no thread has taken yet. */
    private final CallbackQueue deferred = new CallbackQueue();
    /** Guarded by this lock. */
    private @Nullable Waiter woken;
    /** Guarded by this lock. */
    private @Nullable Worker called;

    TrackerLock(EngineCore core) {
        this.core = core;
    }

    /**
     * Acquires the lock. User code may call this with little stack left, so a step that could not be completed must
     * fail before it begins.
     */
    void enter() {
        StackReserve.check();
        lock.lock();
    }

    /** As {@link #enter}, for a thread whose stack is known to be shallow, or whose stack was checked before. */
    void enterShallow() {
        lock.lock();
    }

    /** Returns whether the calling thread holds the lock; for assertions only. */
    boolean isHeldByCurrentThread() {
        return lock.isHeldByCurrentThread();
    }

    /** Acquires the lock if no other thread holds it. */
    boolean tryEnter() {
        return lock.tryLock();
    }

    /**
     * Releases the lock, then wakes threads and workers. A worker calls the callbacks; on an engine without workers,
     * this thread does.
     */
    void leave() {
        @Nullable
        ThreadState state;
        try {
            // The first call in a thread allocates its state, which may fail for lack of memory.
            state = core.dispatcher.balance() ? ThreadState.here() : null;
        } catch (Throwable t) {
            exit();
            throw t;
        }
        if (state == null) {
            exit();
            return;
        }
        Callback stop = state.callbacks.first();
        state.callbacks.prependThoseAfter(null, deferred);
        exit();
        state.call(core, stop);
        core.dispatcher.left();
    }

    /**
     * As {@link #leave}, and then calls the callbacks that were deferred after {@code since}: this thread has ended
     * their operations, and its caller expects the callbacks to have run when it returns.
     */
    void leaveAndCall(ThreadState state, @Nullable Callback since) {
        Callback stop = state.callbacks.first();
        state.callbacks.prependThoseAfter(since, deferred);
        boolean all = false;
        try {
            all = core.dispatcher.balance();
        } catch (Throwable t) {
            exit();
            throw t;
        }
        if (all) {
            state.callbacks.prependThoseAfter(null, deferred);
        }
        exit();
        state.call(core, stop);
        if (all) {
            core.dispatcher.left();
        }
    }

    /** Releases the lock, then wakes threads and workers. Calls no callbacks. */
    void exit() {
        Waiter waiter = woken;
        Worker worker = called;
        woken = null;
        called = null;
        lock.unlock();
        while (worker != null) {
            Worker following = worker.called;
            worker.called = null;
            core.dispatcher.call(worker);
            worker = following;
        }
        while (waiter != null) {
            Waiter following = waiter.woken;
            waiter.woken = null;
            waiter.signal();
            waiter = following;
        }
    }

    /** Schedules a waiter to be woken when the lock is released. Call it once for each waiter. */
    void wake(Waiter waiter) {
        assert isHeldByCurrentThread();
        waiter.woken = woken;
        woken = waiter;
    }

    /** Schedules a worker to be started or woken when the lock is released. */
    void callLater(Worker worker) {
        assert isHeldByCurrentThread();
        worker.called = called;
        called = worker;
    }

    /** Defers a callback. */
    void defer(Callback callback) {
        assert isHeldByCurrentThread();
        deferred.add(callback);
    }

    /** Returns whether callbacks are deferred. */
    boolean hasDeferred() {
        return !deferred.isEmpty();
    }

    /** Returns the last deferred callback, or null. */
    @Nullable
    Callback lastDeferred() {
        return deferred.last();
    }

    /** Removes and returns the first deferred callback, or null. */
    @Nullable
    Callback pollDeferred() {
        assert isHeldByCurrentThread();
        return deferred.poll();
    }

    /** As {@link #exit}, and moves the callbacks that were deferred after {@code since} to {@code kept}. */
    void exitKeeping(CallbackQueue kept, @Nullable Callback since) {
        kept.appendThoseAfter(since, deferred);
        exit();
    }

    /** Calls callbacks; under no lock. If one of them waits, other threads call the rest. */
    void callAll(CallbackQueue callbacks) {
        ThreadState state = ThreadState.here();
        enterShallow();
        Callback others = deferred.last();
        deferred.appendThoseAfter(null, callbacks);
        leaveAndCall(state, others);
    }

    /** Defers a callback for another thread; under no lock. */
    void leaveToOthers(Callback callback) {
        enterShallow();
        defer(callback);
        try {
            core.dispatcher.leftToOthers();
        } finally {
            exit();
        }
    }
}

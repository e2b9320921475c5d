package io.seriatim.engine.core;

import io.seriatim.engine.dependency.Callback;
import io.seriatim.engine.dependency.CallbackQueue;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.sync.Reserve;
import io.seriatim.engine.sync.SpinLock;
import io.seriatim.engine.thread.WorkerThread;
import io.seriatim.engine.thread.Workplace;
import org.jspecify.annotations.Nullable;

/**
 * The tracker lock of one engine, and what is put off until it is released: threads to be woken, workers to be called
 * and callbacks. Whoever releases it by {@link #leave}, {@link #leaveAndCall} or {@link #exit} does the wake-ups at
 * once; which thread calls the callbacks is a matter of the method.
 */
public final class TrackerLock {
    private final EngineCore core;
    private final SpinLock lock = new SpinLock();

    // Guarded by the lock.
    /** Callbacks that no thread has taken on yet. */
    private final CallbackQueue deferred = new CallbackQueue();
    private @Nullable Waiter woken;
    private @Nullable WorkerThread called;

    TrackerLock(EngineCore core) {
        this.core = core;
    }

    /**
     * Takes the lock. Users call this as deep in their stacks as they like: a step that could not be completed is not
     * begun.
     */
    public void enter() {
        Reserve.take();
        lock.lock();
    }

    /** As {@link #enter}, for a thread whose stack is known to be shallow, or whose reserve was taken before. */
    public void enterShallow() {
        lock.lock();
    }

    /** Takes the lock if no other thread holds it. */
    public boolean tryEnter() {
        return lock.tryLock();
    }

    /**
     * Releases the lock, then wakes threads and calls workers. Callbacks are left to a worker or, on an engine without
     * workers, called by this thread.
     */
    public void leave() {
        @Nullable
        Workplace place;
        try {
            // The first call in a thread makes its place, for which there may be no memory.
            place = core.dispatcher.balance() ? Workplace.here() : null;
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
        place.call(core, stop);
        core.dispatcher.left();
    }

    /**
     * As {@link #leave}, and then calls the callbacks that were put off since a given one: this thread itself has ended
     * their operations, and its caller expects them to have been called when it returns.
     */
    public void leaveAndCall(Workplace place, @Nullable Callback since) {
        Callback stop = place.callbacks.first();
        place.callbacks.prependThoseAfter(since, deferred);
        boolean all = false;
        try {
            all = core.dispatcher.balance();
        } catch (Throwable t) {
            exit();
            throw t;
        }
        if (all) {
            place.callbacks.prependThoseAfter(null, deferred);
        }
        exit();
        place.call(core, stop);
        if (all) {
            core.dispatcher.left();
        }
    }

    /** Releases the lock, wakes threads and calls workers, but no callbacks. */
    public void exit() {
        Waiter waiter = woken;
        WorkerThread worker = called;
        woken = null;
        called = null;
        lock.unlock();
        while (worker != null) {
            WorkerThread following = worker.called;
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

    /** Wakes a thread when the lock is released; once for each waiter. */
    public void wake(Waiter waiter) {
        waiter.woken = woken;
        woken = waiter;
    }

    /** Calls a worker when the lock is released. */
    public void callLater(WorkerThread worker) {
        worker.called = called;
        called = worker;
    }

    /** Puts off a callback. */
    public void defer(Callback callback) {
        deferred.add(callback);
    }

    /** Whether callbacks wait for a thread that calls them. */
    public boolean hasDeferred() {
        return !deferred.isEmpty();
    }

    /** The last callback put off so far. */
    public @Nullable Callback lastDeferred() {
        return deferred.last();
    }

    /** Takes a callback to be called. */
    public @Nullable Callback pollDeferred() {
        return deferred.poll();
    }

    /** As {@link #exit}, and gives the caller the callbacks that were put off since a given one. */
    void exitKeeping(CallbackQueue kept, @Nullable Callback since) {
        kept.appendThoseAfter(since, deferred);
        exit();
    }

    /** Calls callbacks, on this thread unless one of them waits; called without the lock. */
    public void callAll(CallbackQueue callbacks) {
        Workplace place = Workplace.here();
        enterShallow();
        Callback others = deferred.last();
        deferred.appendThoseAfter(null, callbacks);
        leaveAndCall(place, others);
    }

    /** Leaves a callback to another thread; called without the lock. */
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

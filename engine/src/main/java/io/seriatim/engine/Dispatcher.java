package io.seriatim.engine;

import io.seriatim.engine.sync.Deadline;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Decides which thread runs a ready operation, and when. It is the interface between tracking dependencies and running
 * operations. {@code LaneDispatcher} has threads of its own; {@code InlineDispatcher} runs operations in the threads
 * that push and wait.
 */
interface Dispatcher {
    /** Receives operations with their state and, if known, the thread that runs them. */
    @FunctionalInterface
    interface Look {
        void at(Operation op, EngineSnapshot.State state, @Nullable Thread thread);
    }

    /** The interval, in nanoseconds, at which a waiting thread checks whether the engine still makes progress. */
    long LOOK_NANOS = 500_000_000;

    /**
     * Chooses the lane and the workers of an operation that is about to be pushed; called by the pushing thread, under
     * no lock.
     */
    void route(Operation op);

    /**
     * Chooses a worker for an operation that is appended to the log; under the push lock. Returns the worker to pass to
     * {@link #call} after the lock is released, or null.
     */
    @Nullable
    Worker pushed(Operation op);

    /** Starts or wakes a worker; under no lock. */
    void call(Worker worker);

    /** Called after a push, under no lock; may run operations. */
    void afterPush(Operation op);

    /** Queues a ready operation; under the tracker lock. */
    void ready(Operation op);

    /**
     * Ends operations whose bodies have finished but whose ends have not been reported to the tracker; under the
     * tracker lock.
     */
    void harvest();

    /**
     * Called before the tracker lock is released, because operations that became ready under it may need a thread.
     *
     * @return true if the calling thread has to do that work itself: it calls the deferred callbacks, and then
     * {@link #left}
     */
    boolean balance();

    /** Called when a thread hands its callbacks to other threads; under the tracker lock. */
    void leftToOthers();

    /** Returns whether operations run on threads of the dispatcher. */
    boolean hasWorkers();

    /** Called after a thread for which {@link #balance} returned true has released the tracker lock; under no lock. */
    void left();

    /**
     * Waits, or runs operations, until the waiter is done.
     *
     * @param deadline
     *            a {@link System#nanoTime}, or {@link Deadline#NEVER}
     */
    void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException;

    /** Passes each queued or running operation to {@code look}; under the tracker lock. */
    void forEach(Look look);

    /** Removes all queued operations, in constant time per lane; under the tracker lock. */
    List<? extends OpSource> takeQueued();

    /** Interrupts the threads that run bodies; under the tracker lock. */
    void interruptRunning();

    /** Returns the worker states of an operation that runs on a thread which is not a worker of this engine. */
    WorkerStates states(Operation op);

    /** Lets the threads end, because no operation is pending and none can be pushed. */
    void terminate();

    /**
     * Waits until the threads have ended; returns false if the deadline passes. A call from one of these threads
     * returns at once.
     */
    boolean join(long deadline) throws InterruptedException;

    /**
     * Returns why no thread runs the ready operations, or an empty string if one does or none is ready; under the
     * tracker lock.
     */
    String note();

    /** Returns the kind of engine with its parameters, for messages. */
    String kind();

    /** Returns the number of live threads. */
    int threads();
}

package io.seriatim.engine.core;

import io.seriatim.engine.EngineSnapshot;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Waiter;
import io.seriatim.engine.queue.OpSource;
import io.seriatim.engine.sync.Deadline;
import io.seriatim.engine.thread.WorkerStates;
import io.seriatim.engine.thread.WorkerThread;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Says who runs the ready operations, and when: the seam between tracking dependencies and running.
 * {@code LaneDispatcher} has threads of its own, {@code InlineDispatcher} runs in the threads that push and wait.
 */
public interface Dispatcher {
    /** Is shown operations. */
    @FunctionalInterface
    interface Look {
        void at(Operation op, EngineSnapshot.State state, @Nullable Thread thread);
    }

    /** How often a waiting thread looks around. */
    long LOOK_NANOS = 500_000_000;

    /** Finds the queue of an operation about to be pushed; called by the pushing thread, under no lock. */
    void route(Operation op);

    /**
     * An operation was appended to the log; under the push lock. Returns a worker to be called with {@link #call} once
     * the lock is free.
     */
    @Nullable
    WorkerThread pushed(Operation op);

    /** Starts or wakes a worker; under no lock. */
    void call(WorkerThread worker);

    /** After a push, under no lock; may run operations. */
    void afterPush(Operation op);

    /** An operation is ready; under the tracker lock. */
    void ready(Operation op);

    /** Lets operations end that have finished and that no one has told the tracker of; under the tracker lock. */
    void harvest();

    /**
     * The tracker lock is about to be given up: work that appeared under it may need a thread.
     *
     * @return whether this thread is to do that work itself: to call what was put off, and then {@link #left}
     */
    boolean balance();

    /** A thread has put off what it would have called itself, and is not going to; under the tracker lock. */
    void leftToOthers();

    /** Whether operations run on threads of its own. */
    boolean hasWorkers();

    /** The tracker lock was given up by a thread that was told to do something itself; under no lock. */
    void left();

    /**
     * Waits, or helps, until the waiter is done.
     *
     * @param deadline
     *            a {@link System#nanoTime}, or {@link Deadline#NEVER}
     */
    void await(Waiter waiter, long deadline) throws InterruptedException, TimeoutException;

    /** Shows what is queued or runs, with its state and the thread that runs it; under the tracker lock. */
    void forEach(Look look);

    /** Takes away what is queued, in one step; under the tracker lock. */
    List<? extends OpSource> takeQueued();

    /** Interrupts the bodies that run; under the tracker lock. */
    void interruptRunning();

    /** The states for an operation that none of this engine's workers runs. */
    WorkerStates states(Operation op);

    /** All has ended and nothing will be pushed: lets the threads go. */
    void terminate();

    /** Waits until the threads are gone; false if the time is over. Returns at once for a thread of its own. */
    boolean join(long deadline) throws InterruptedException;

    /** Threads alive. */
    int threads();
}

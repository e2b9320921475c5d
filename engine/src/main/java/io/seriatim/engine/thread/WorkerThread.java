package io.seriatim.engine.thread;

import io.seriatim.engine.dependency.Owner;
import io.seriatim.engine.dependency.WorkerPool;
import org.jspecify.annotations.Nullable;

/** A thread of an engine, without the details that only its dispatcher needs. */
public abstract class WorkerThread extends Thread {
    /** The engine that owns the thread. */
    public final Owner engine;
    public final WorkerPool pool;
    /** The worker's number in its lane. */
    public final int number;
    public final WorkerStates states;
    public final ThreadState state = new ThreadState(this);
    /** The next worker to be started or woken when the tracker lock is released; guarded by that lock. */
    public @Nullable WorkerThread called;

    /**
     * Creates a thread without starting it.
     *
     * @param threadName
     *            the name of the thread
     */
    protected WorkerThread(String threadName, Owner engine, WorkerPool pool, int number, WorkerStates states) {
        super(threadName);
        this.engine = engine;
        this.pool = pool;
        this.number = number;
        this.states = states;
        setDaemon(true);
    }

    /**
     * Announces that this thread is about to block. Until {@link #unblock}, another worker may take its place in the
     * lane. Calls may be nested.
     */
    public abstract void block();

    /** Ends the effect of the last {@link #block}. */
    public abstract void unblock();
}

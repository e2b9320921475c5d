package io.seriatim.engine.thread;

import io.seriatim.engine.dependency.Owner;
import io.seriatim.engine.dependency.WorkerPool;
import org.jspecify.annotations.Nullable;

/** A thread of an engine, as all but its dispatcher see it. */
public abstract class WorkerThread extends Thread {
    /** Whose thread it is. */
    public final Owner engine;
    public final WorkerPool pool;
    /** Its number in its lane. */
    public final int number;
    public final WorkerStates states;
    public final Workplace place = new Workplace(this);
    /** The next of those to be called when the tracker lock is released; owned by the thread that holds it. */
    public @Nullable WorkerThread called;

    /**
     * Makes a thread that is not started.
     *
     * @param threadName
     *            its name
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
     * This thread is about to wait for something that may need its lane: another worker may take its place. Calls may be
     * nested.
     */
    public abstract void block();

    /** The wait is over. */
    public abstract void unblock();
}

package io.seriatim.engine.dependency;

import org.jspecify.annotations.Nullable;

/**
 * The workers that run an operation. The dispatcher chooses the pool at the push, and only the dispatcher knows its
 * class.
 */
public abstract class WorkerPool {
    /**
     * A worker that was chosen but could not be started or woken, for lack of memory or stack. Written without a lock,
     * because the writer may lack the stack for a call; the next thread that chooses a worker reads it.
     */
    public volatile @Nullable Thread owed;
}

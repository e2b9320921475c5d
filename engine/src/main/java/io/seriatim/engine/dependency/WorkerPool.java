package io.seriatim.engine.dependency;

import org.jspecify.annotations.Nullable;

/** The workers that run an operation; the dispatcher, which notes it at the push, knows what it is. */
public abstract class WorkerPool {
    /**
     * A worker that was picked and could not be called, for want of memory or stack. Written without a lock and read by
     * whoever looks for a worker next, so that the write needs no call.
     */
    public volatile @Nullable Thread owed;
}

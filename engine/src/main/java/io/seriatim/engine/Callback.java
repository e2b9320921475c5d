package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * A deferred call of user code, made after the tracker has processed the event that the call reports. Callbacks are
 * intrusive list nodes, so that deferring one allocates nothing.
 */
abstract class Callback {
    /**
     * The next callback in a {@link CallbackQueue}. For an operation in the heap of a {@code ReadyQueue}, its first
     * child. Guarded by the owner of the queue.
     */
    @Nullable
    Callback following;

    abstract EngineCore owner();

    /** Whether the call runs user code, which may take long. */
    boolean mayBlock() {
        return true;
    }

    /** Makes the call. The thread holds no lock, and no operation that another thread could run. */
    abstract void call();
}

package io.seriatim.engine.core;

import io.seriatim.engine.dependency.Dependencies;
import io.seriatim.engine.dependency.EngineFuture;
import java.util.concurrent.TimeoutException;

/**
 * Implements waits for futures on behalf of {@link EngineCore}, which cannot check waits inside operations for cycles.
 */
@FunctionalInterface
public interface FutureWaits {
    /** Waits until a future is done or what it depends on has changed. */
    void forFuture(EngineFuture<?> future, Dependencies on, long deadline)
            throws InterruptedException, TimeoutException;
}

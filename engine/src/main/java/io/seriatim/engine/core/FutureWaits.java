package io.seriatim.engine.core;

import io.seriatim.engine.dependency.OpFuture;
import io.seriatim.engine.dependency.Operation;
import java.util.concurrent.TimeoutException;

/**
 * Implements waits for futures on behalf of {@link EngineCore}, which cannot check waits inside operations for cycles.
 */
@FunctionalInterface
public interface FutureWaits {
    /** Waits until an operation's future is done. */
    void forFuture(OpFuture<?> future, Operation op, long deadline) throws InterruptedException, TimeoutException;
}

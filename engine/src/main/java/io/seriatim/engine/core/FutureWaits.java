package io.seriatim.engine.core;

import io.seriatim.engine.dependency.OpFuture;
import io.seriatim.engine.dependency.Operation;
import java.util.concurrent.TimeoutException;

/** Waits for futures, for {@link EngineCore}, which does not know how waits inside operations are checked. */
@FunctionalInterface
public interface FutureWaits {
    /** Waits until an operation's future is done. */
    void forFuture(OpFuture<?> future, Operation op, long deadline) throws InterruptedException, TimeoutException;
}

package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;
import org.jspecify.annotations.Nullable;

/**
 * The operations pushed between two calls of {@code waitForAll}. Such a call ends the current epoch and waits until
 * that epoch and all earlier ones are empty, so that later pushes cannot delay it. Guarded by the tracker lock.
 */
final class Epoch extends Padding.Before {
    /** The number of operations that had been admitted when this epoch began. */
    long begin;
    /** The number of operations of this epoch that have not ended. */
    long pending;
    final Failures failures = new Failures();
    /** The following epoch, once this one is closed, and the preceding one, unless all its operations have ended. */
    @Nullable
    Epoch next;
    @Nullable
    Epoch previous;
    /** The threads that wait for this epoch and all earlier ones. */
    final WaiterList waiters = new WaiterList();
    /** The earlier epoch that this one was merged into. */
    @Nullable
    Epoch mergedInto;

    /** Returns the epoch that this one was merged into, directly or indirectly, or this epoch itself. */
    Epoch merged() {
        Epoch e = this;
        Epoch earlier;
        while ((earlier = e.mergedInto) != null) {
            e = earlier;
        }
        return e;
    }
}

package io.seriatim.engine.dependency;

import io.seriatim.engine.sync.Padding;
import org.jspecify.annotations.Nullable;

/**
 * The operations pushed between two {@code waitForAll}. Such a wait ends the current epoch and waits until it and those
 * before it are empty, so that later pushes cannot delay it. Guarded by the tracker lock.
 */
public final class Epoch extends Padding.Before {
    /** How many operations had been taken in when it began. */
    public long begin;
    /** Operations of this epoch that have not ended. */
    public long pending;
    public final Failures failures = new Failures();
    /** The one that came after, once this is closed, and the one before, unless that has passed. */
    @Nullable
    public Epoch next;
    @Nullable
    public Epoch previous;
    /** Those who wait for this and all before it. */
    public final WaiterList waiters = new WaiterList();
    /** The earlier one that its operations and waits belong to now. */
    @Nullable
    public Epoch joined;

    /** The epoch that this has become a part of, or this one. */
    public Epoch whole() {
        Epoch e = this;
        Epoch earlier;
        while ((earlier = e.joined) != null) {
            e = earlier;
        }
        return e;
    }
}

package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * The operations pushed between two {@code waitForAll}. Such a wait ends the current epoch and waits until it and those
 * before it are empty, so that later pushes cannot delay it. Guarded by the tracker lock.
 */
final class Epoch extends Padding.Before {
    /** How many operations had been taken in when it began. */
    long begin;
    /** Operations of this epoch that have not ended. */
    long pending;
    final Failures failures = new Failures();
    /** The one that came after, once this is closed, and the one before, unless that has passed. */
    @Nullable
    Epoch next;
    @Nullable
    Epoch previous;
    /** Those who wait for this and all before it. */
    final WaiterList waiters = new WaiterList();
    /** The earlier one that its operations and waits belong to now. */
    @Nullable
    Epoch joined;

    /** The epoch that this has become a part of, or this one. */
    Epoch whole() {
        Epoch e = this;
        Epoch earlier;
        while ((earlier = e.joined) != null) {
            e = earlier;
        }
        return e;
    }
}

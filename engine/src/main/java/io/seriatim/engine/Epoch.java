package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * The operations pushed between two {@code waitForAll}. Such a wait ends the current epoch and waits until it and those before it are empty, so that later pushes cannot
 * delay it. Owned by the tracker's role.
 */
final class Epoch extends Padding.Before {
    /** Operations of this epoch that have not ended. */
    long pending;
    final Failures failures = new Failures();
    /** The one that came after, once this is closed. */
    @Nullable
    Epoch next;
    /** Those who wait for this and all before it. */
    @Nullable
    Waiter waiters;
}

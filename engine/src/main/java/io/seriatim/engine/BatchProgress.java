package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;

/**
 * The part of a {@link Batch} that the holder of the tracker lock writes. It is a superclass because the JVM lays out
 * the fields of a superclass before those of its subclasses: so it is on other cache lines than the part that the owner
 * of the batch writes. Guarded by the tracker lock.
 */
abstract class BatchProgress extends Padding.Before {
    int harvested;
    int progressSeen;
    int looks;
    /** Whether the owner is running its batch. */
    boolean inUse;
    /**
     * Whether the owner has found nothing to run and spins, so that the holder of the tracker lock may put an operation
     * into the batch.
     */
    boolean ownerIdle;

    BatchProgress(int first) {
        harvested = first;
        progressSeen = first;
    }
}

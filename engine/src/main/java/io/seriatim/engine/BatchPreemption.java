package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;

/**
 * Asks workers to interrupt their batches, because a thread waits for a variable, or because an operation of another
 * priority or for another lane was pushed. A padded flag, because workers read it after every operation and it seldom
 * changes.
 */
final class BatchPreemption extends Padding.Before {
    private volatile boolean requested;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;

    boolean isRequested() {
        return requested;
    }

    void request() {
        if (!requested) {
            requested = true;
        }
    }

    /**
     * Clears the request. The caller must then check all reasons for a request and request again if one holds, because
     * a request made meanwhile must not be lost.
     */
    void clear() {
        requested = false;
    }
}

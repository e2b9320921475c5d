package io.seriatim.cluster.transport;

import java.io.IOException;

/** The thread that waited for a peer was interrupted; its flag is still set. */
final class InterruptedOperationException extends IOException {
    private static final long serialVersionUID = 1L;

    InterruptedOperationException() {
        super("the thread was interrupted");
    }
}

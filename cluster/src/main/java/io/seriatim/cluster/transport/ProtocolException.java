package io.seriatim.cluster.transport;

import java.io.IOException;

/** A peer sent bytes that no rank of this job sends here. */
final class ProtocolException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String text;

    ProtocolException(String message) {
        super(message);
        text = message;
    }

    /** The message. */
    String text() {
        return text;
    }
}

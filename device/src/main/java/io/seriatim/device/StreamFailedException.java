package io.seriatim.device;

import java.io.Serial;

/** Thrown if work on a stream failed. The cause is the exception of the work. */
public final class StreamFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    StreamFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}

package io.seriatim.device;

import java.io.Serial;

/** Work on a stream failed. The cause is what it threw. */
public final class StreamFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    StreamFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}

package io.seriatim.device;

import java.io.Serial;

/** Thrown if work on a stream failed. The cause is the exception of the work. */
public final class StreamFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message
     *            names the stream and the failure
     * @param cause
     *            the exception of the work
     */
    public StreamFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}

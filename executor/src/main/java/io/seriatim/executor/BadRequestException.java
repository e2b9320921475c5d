package io.seriatim.executor;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a run is given what its program does not accept, so that the caller is to change the request: a feed that
 * is missing, unknown, closed, or of another element type or shape than declared, which is found before anything is
 * computed; or a fed index that is out of range, such as one of an embedding, which an operation finds. In the latter
 * case the cause is the {@link ProgramFailedException} of the operation, whose message this exception has, too.
 */
public final class BadRequestException extends IllegalArgumentException {
    @Serial
    private static final long serialVersionUID = 1;

    BadRequestException(String message) {
        super(message);
    }

    /**
     * Creates an exception for code that checks requests before a run.
     *
     * @param message
     *            what the caller is to change
     * @param cause
     *            the failure that tells it, if there is one
     */
    public BadRequestException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

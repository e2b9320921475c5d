package io.seriatim.train;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the loss of a training becomes NaN or infinite. The message names the step and the first operation that
 * computed such a value.
 */
public final class NotFiniteException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotFiniteException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

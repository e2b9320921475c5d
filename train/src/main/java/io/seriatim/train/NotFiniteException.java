package io.seriatim.train;

import org.jspecify.annotations.Nullable;

/**
 * A training whose loss has become NaN or infinite. The message says in which step, and which operation was the first
 * to compute such a value.
 */
public final class NotFiniteException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotFiniteException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

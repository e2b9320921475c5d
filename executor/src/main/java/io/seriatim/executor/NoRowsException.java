package io.seriatim.executor;

import java.io.Serial;

/** Thrown if a result does not have a row for each fed row, so that requests cannot be batched. */
final class NoRowsException extends IllegalStateException {
    @Serial
    private static final long serialVersionUID = 1;

    NoRowsException(String message) {
        super(message);
    }
}

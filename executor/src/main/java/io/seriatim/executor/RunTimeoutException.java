package io.seriatim.executor;

import java.io.Serial;

/**
 * Thrown by a run that was not complete when the time of its {@link RunOptions} was over. The message names the
 * operation before which it ended and, if a loop runs that operation, the loop and its iteration.
 */
public final class RunTimeoutException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    RunTimeoutException(String message) {
        super(message);
    }
}

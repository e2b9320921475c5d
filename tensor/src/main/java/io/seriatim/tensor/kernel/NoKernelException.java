package io.seriatim.tensor.kernel;

import java.io.Serial;

/**
 * There is no kernel for a computation with these types and layouts at this place. The message lists those there are.
 */
public final class NoKernelException extends IllegalArgumentException {
    @Serial
    private static final long serialVersionUID = 1;

    NoKernelException(String message) {
        super(message);
    }
}

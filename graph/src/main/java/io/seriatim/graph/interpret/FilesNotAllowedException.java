package io.seriatim.graph.interpret;

import java.io.Serial;

/** A program reads or writes files that its caller has not allowed. Nothing of it was run. */
public final class FilesNotAllowedException extends IllegalArgumentException {
    @Serial
    private static final long serialVersionUID = 1;

    FilesNotAllowedException(String message) {
        super(message);
    }
}

package io.seriatim.train;

import java.io.IOException;
import java.io.Serial;

/** Thrown if another training uses the folder of a run. The message names its process and host, if they are known. */
public final class RunInUseException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    RunInUseException(String message) {
        super(message);
    }
}

package io.seriatim.train.metrics;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/** Adds the name of the file to an error, because the error of a full disk does not contain it. */
final class NotWritten {
    private NotWritten() {
    }

    static IOException of(Path file, IOException cause) {
        if (cause instanceof FileSystemException) {
            return cause;
        }
        FileSystemException named = new FileSystemException(file.toString(), null,
                "it could not be written: " + cause.getMessage());
        named.initCause(cause);
        return named;
    }
}

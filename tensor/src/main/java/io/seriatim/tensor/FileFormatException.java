package io.seriatim.tensor;

import java.io.IOException;
import java.io.Serial;

/** A file is not what it should be. The message says where in the file, and what is wrong. */
public final class FileFormatException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Says what is wrong.
     *
     * @param source
     *            the file's name
     * @param offset
     *            of the first byte that is wrong
     * @param rule
     *            what holds in a good file, and what is found
     */
    public FileFormatException(String source, long offset, String rule) {
        super(source + ", byte " + offset + ": " + rule);
    }

    /**
     * Says what is wrong where no single byte is.
     *
     * @param source
     *            the file's or folder's name, with line and column if it has such
     * @param rule
     *            what holds in a good one, and what is found
     */
    public FileFormatException(String source, String rule) {
        super(source + ": " + rule);
    }

    /**
     * Says what is wrong where another exception has found it.
     *
     * @param source
     *            the file's or folder's name, with line and column if it has such
     * @param rule
     *            what holds in a good one, and what is found
     * @param cause
     *            what has found it
     */
    public FileFormatException(String source, String rule, Throwable cause) {
        super(source + ": " + rule, cause);
    }
}

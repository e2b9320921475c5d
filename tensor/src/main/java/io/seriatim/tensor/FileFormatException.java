package io.seriatim.tensor;

import java.io.IOException;
import java.io.Serial;

/** A file does not have the expected format. The message names the position in the file and the error. */
public final class FileFormatException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * An error at an offset.
     *
     * @param source
     *            the file's name
     * @param offset
     *            the offset of the first wrong byte
     * @param rule
     *            the rule that a valid file follows, and the value that was found
     */
    public FileFormatException(String source, long offset, String rule) {
        super(source + ", byte " + offset + ": " + rule);
    }

    /**
     * An error that has no offset.
     *
     * @param source
     *            the file's or folder's name, with line and column if it has such
     * @param rule
     *            the rule that a valid file follows, and the value that was found
     */
    public FileFormatException(String source, String rule) {
        super(source + ": " + rule);
    }

    /**
     * An error that another exception reports.
     *
     * @param source
     *            the file's or folder's name, with line and column if it has such
     * @param rule
     *            the rule that a valid file follows, and the value that was found
     * @param cause
     *            the cause
     */
    public FileFormatException(String source, String rule, Throwable cause) {
        super(source + ": " + rule, cause);
    }
}

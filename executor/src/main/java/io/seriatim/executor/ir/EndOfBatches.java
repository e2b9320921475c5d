package io.seriatim.executor.ir;

import java.io.Serial;

/** Thrown internally when a reader has no more batches. The API converts it to an {@code EndOfDataException}. */
public final class EndOfBatches extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String reader;

    public EndOfBatches(String reader) {
        super("Reader '" + reader + "' has no more batches");
        this.reader = reader;
    }

    /** Returns the name of the variable that holds the reader. */
    public String reader() {
        return reader;
    }
}

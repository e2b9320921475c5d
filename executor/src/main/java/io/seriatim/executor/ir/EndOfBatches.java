package io.seriatim.executor.ir;

import java.io.Serial;

/**
 * A reader has no more batches, as the packages behind the API report it; callers of a plan get it as an
 * {@code EndOfDataException}.
 */
public final class EndOfBatches extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String reader;

    public EndOfBatches(String reader) {
        super("Reader '" + reader + "' has no more batches");
        this.reader = reader;
    }

    /** The program's variable that holds the reader. */
    public String reader() {
        return reader;
    }
}

package io.seriatim.executor;

import java.io.Serial;

/** A reader has no more batches, as the packages behind the API report it; callers of a plan get it as an {@link EndOfDataException}. */
final class EndOfBatches extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String reader;

    EndOfBatches(String reader) {
        super("Reader '" + reader + "' has no more batches");
        this.reader = reader;
    }

    /** The program's variable that holds the reader. */
    String reader() {
        return reader;
    }
}

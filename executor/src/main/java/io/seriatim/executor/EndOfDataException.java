package io.seriatim.executor;

import io.seriatim.executor.ir.EndOfBatches;
import java.io.Serial;

/**
 * A reader of a program has no more batches. This is no failure: the run has changed nothing, unless it reads in a
 * loop, and the next one begins the data again.
 */
public final class EndOfDataException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** The name of the program's variable. */
    private final String reader;

    EndOfDataException(String reader) {
        super("Reader '" + reader + "' has no more batches; the next run begins its data again");
        this.reader = reader;
    }

    /** The same end, as callers get it. */
    static EndOfDataException of(EndOfBatches end) {
        EndOfDataException e = new EndOfDataException(end.reader());
        e.setStackTrace(end.getStackTrace());
        for (Throwable suppressed : end.getSuppressed()) {
            e.addSuppressed(suppressed);
        }
        return e;
    }

    /**
     * The reader that came to its end.
     *
     * @return the name of the program's variable
     */
    public String reader() {
        return reader;
    }
}

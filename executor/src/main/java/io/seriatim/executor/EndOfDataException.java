package io.seriatim.executor;

import io.seriatim.executor.ir.EndOfBatches;
import java.io.Serial;

/**
 * Thrown by a run whose reader has no more batches. It marks the end of the data and is not a failure: the run has
 * changed no variable, unless it reads within a loop. The next run restarts the data.
 */
public final class EndOfDataException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** The variable that holds the reader. */
    private final String reader;

    EndOfDataException(String reader) {
        super("Reader '" + reader + "' has no more batches; the next run restarts its data");
        this.reader = reader;
    }

    /** Converts the internal exception to the public one. */
    static EndOfDataException of(EndOfBatches end) {
        EndOfDataException e = new EndOfDataException(end.reader());
        e.setStackTrace(end.getStackTrace());
        for (Throwable suppressed : end.getSuppressed()) {
            e.addSuppressed(suppressed);
        }
        return e;
    }

    /**
     * Returns the reader that reached the end of its data.
     *
     * @return the name of the variable that holds the reader
     */
    public String reader() {
        return reader;
    }
}

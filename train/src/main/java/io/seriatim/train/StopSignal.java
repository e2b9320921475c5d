package io.seriatim.train;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A request to end a training after its current step, made by any thread, such as a signal handler. It also excludes
 * the end of the process while files are being written.
 */
public final class StopSignal {
    private final ReentrantLock writing = new ReentrantLock();
    private volatile boolean requested;

    /** Creates a signal without a request. */
    public StopSignal() {
        // Nothing to prepare.
    }

    /** An action that writes files. */
    @FunctionalInterface
    public interface Writing {
        /**
         * Writes the files.
         *
         * @throws IOException
         *             if writing fails
         */
        void write() throws IOException;
    }

    /** Requests that the training end after the current step, with a checkpoint. */
    public void request() {
        requested = true;
    }

    /**
     * Returns whether the end was requested.
     *
     * @return true after the first {@link #request}
     */
    public boolean isRequested() {
        return requested;
    }

    /**
     * Writes files that belong together; {@link #untilWritten} waits until this is done.
     *
     * @param action
     *            the action that writes the files
     * @throws IOException
     *             if writing fails
     */
    public void whileWriting(Writing action) throws IOException {
        writing.lock();
        try {
            action.write();
        } finally {
            writing.unlock();
        }
    }

    /**
     * Runs an action, such as ending the process, while no files are being written.
     *
     * @param action the action
     */
    public void untilWritten(Runnable action) {
        writing.lock();
        try {
            action.run();
        } finally {
            writing.unlock();
        }
    }
}

package io.seriatim.train;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Asks a training to end after its step, from any thread: a signal handler, a service that is being shut down. It also
 * knows when files are being written, so that a process is not ended in the middle of one.
 */
public final class StopSignal {
    private final ReentrantLock writing = new ReentrantLock();
    private volatile boolean requested;

    /** Has not been asked yet. */
    public StopSignal() {
        // Nothing to prepare.
    }

    /** The action that writes files. */
    @FunctionalInterface
    public interface Writing {
        /**
         * Writes them.
         *
         * @throws IOException
         *             if that fails
         */
        void write() throws IOException;
    }

    /** The training ends after the step that it is in, with a checkpoint. */
    public void request() {
        requested = true;
    }

    /**
     * Whether someone has asked.
     *
     * @return true from the first {@link #request} on
     */
    public boolean isRequested() {
        return requested;
    }

    /**
     * Writes files that belong together: {@link #untilWritten} waits for it.
     *
     * @param action
     *            writes them
     * @throws IOException
     *             if that fails
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
     * Does something while no files are being written, and none will be until it is done: ends the process, say.
     *
     * @param action
     *            what
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

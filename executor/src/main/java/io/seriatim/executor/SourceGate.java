package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Engine;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Asks the source of a reader, and closes it when no thread asks it any more. The source is called under no lock: the
 * lock guards only which thread asks it just now, and whether it is closed.
 */
final class SourceGate {
    private final BatchSource source;
    private final Object use = new Object();
    @GuardedBy("use")
    private @Nullable Thread user;
    @GuardedBy("use")
    private boolean interrupted;
    @GuardedBy("use")
    private boolean closed;

    /** A question to the source. */
    interface Question {
        Reader.Outcome ask(BatchSource source) throws Exception;
    }

    SourceGate(BatchSource source) {
        this.source = source;
    }

    /** The answer to a question; it says so if the gate is closed, before or meanwhile. One question at a time. */
    Reader.Outcome ask(Question question) {
        if (!enter()) {
            return Reader.Outcome.Sign.CLOSED;
        }
        try {
            return question.ask(source);
        } catch (Throwable e) {
            return isClosed() ? Reader.Outcome.Sign.CLOSED : new Reader.Outcome.Failed(e);
        } finally {
            leave();
        }
    }

    private boolean enter() {
        synchronized (use) {
            if (!closed) {
                user = Thread.currentThread();
            }
            return !closed;
        }
    }

    private void leave() {
        synchronized (use) {
            user = null;
            if (interrupted) {
                // Closing meant the source, not what the thread does next.
                interrupted = false;
                Thread.interrupted();
            }
            use.notifyAll();
        }
    }

    private boolean isClosed() {
        synchronized (use) {
            return closed;
        }
    }

    void requireOpen() {
        if (isClosed()) {
            throw new IllegalStateException("The reader is closed: set another in the scope");
        }
    }

    /**
     * Answers no more questions, interrupts the source if it is asked just now, and waits until it has answered.
     *
     * @return whether this call has closed the gate; false if it was closed already
     * @throws IllegalStateException
     *             if the source calls it
     */
    boolean close() {
        synchronized (use) {
            Thread asking = user;
            if (Thread.currentThread().equals(asking)) {
                throw new IllegalStateException(
                        "A source cannot close its reader: let it return null, and close the reader after the run");
            }
            if (closed) {
                return false;
            }
            closed = true;
            if (asking != null) {
                interrupted = true;
                asking.interrupt();
            }
        }
        // The thread that asks the source may need the engine of which this thread is a worker.
        Engine.blocking(this::awaitUser);
        return true;
    }

    /** Closes the source, once {@link #close} has returned true. */
    void closeSource() {
        try {
            source.close();
        } catch (IOException | RuntimeException e) {
            throw new IllegalStateException("The source of a reader could not be closed: " + e.getMessage(), e);
        }
    }

    private void awaitUser() {
        boolean asked = false;
        synchronized (use) {
            while (user != null) {
                try {
                    use.wait();
                } catch (InterruptedException e) {
                    asked = true;
                }
            }
        }
        if (asked) {
            Thread.currentThread().interrupt();
        }
    }
}

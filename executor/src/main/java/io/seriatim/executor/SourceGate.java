package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Engine;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Calls the source of a reader, and closes it when no thread is calling it. The source is called without a lock; the
 * lock guards only the thread that is currently calling it, and whether the gate is closed.
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

    /** A call of the source. */
    interface Question {
        Reader.Outcome ask(BatchSource source) throws Exception;
    }

    SourceGate(BatchSource source) {
        this.source = source;
    }

    /**
     * Calls the source and returns the outcome; {@code CLOSED} if the gate is closed before or during the call. At most
     * one thread may call this method at a time.
     */
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
                // Clears the interrupt by which close() ended the call, so that it does not affect later work of the
                // thread.
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
            throw new IllegalStateException("The reader is closed: set another reader in the scope");
        }
    }

    /**
     * Rejects further calls, interrupts a call in progress, and waits until it has returned.
     *
     * @return whether this call closed the gate; false if it was already closed
     * @throws IllegalStateException
     *             if the source calls this method
     */
    boolean close() {
        synchronized (use) {
            Thread asking = user;
            if (Thread.currentThread().equals(asking)) {
                throw new IllegalStateException(
                        "A source cannot close its own reader: return null, and close the reader after the run");
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
        // The thread that calls the source may need the engine of which this thread is a worker.
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

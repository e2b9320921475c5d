package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Engine;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Makes runs that take batches and change a scope acquire the lock of that scope in the order in which they claimed
 * their batches. Several threads that train on one scope thus compute the same parameters as one thread, although they
 * wait for batches without a lock. Thread-safe.
 */
final class RunOrder {
    @GuardedBy("this")
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    /** Returns the next turn. The caller must call {@link Turn#pass}, also after a failure. */
    synchronized Turn turn() {
        Turn next = new Turn(last);
        last = next.passed;
        return next;
    }

    /** The turn of one run. */
    static final class Turn {
        private final CompletableFuture<Void> before;
        private final CompletableFuture<Void> passed = new CompletableFuture<>();

        private Turn(CompletableFuture<Void> before) {
            this.before = before;
        }

        /** Waits until all earlier turns have passed. */
        void await() throws InterruptedException {
            if (!before.isDone()) {
                // The run with an earlier turn may need the engine of which this thread is a worker.
                Engine.blocking(this::get);
            }
        }

        private void get() throws InterruptedException {
            try {
                before.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException("A turn is never completed with an exception", e);
            }
        }

        /** Ends this turn. The next turn begins when all earlier ones have ended too. */
        void pass() {
            before.thenRun(() -> passed.complete(null)).isDone();
        }
    }
}

package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Engine;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * The order in which runs that take batches and change a scope get the lock of that scope: the order in which they have
 * claimed their batches. So threads that train on one scope give the same parameters as one thread, although batches are
 * waited for under no lock. For many threads.
 */
final class RunOrder {
    @GuardedBy("this")
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    /** The next turn. It must pass, whatever happens. */
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
                // The run of an earlier turn may need the engine of which this thread is a worker.
                Engine.blocking(this::get);
            }
        }

        private void get() throws InterruptedException {
            try {
                before.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException("A turn passes and never fails", e);
            }
        }

        /** Lets the next turn go on, as soon as all earlier ones have passed too. */
        void pass() {
            before.thenRun(() -> passed.complete(null)).isDone();
        }
    }
}

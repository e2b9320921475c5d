package io.seriatim.engine;

import io.seriatim.engine.sync.Deadline;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The future of a submitted operation. */
final class OpFuture<T> extends EngineFuture<T> {
    private final Operation op;
    /** The waits for this future that were made inside operations; guarded by the tracker lock. */
    @Nullable
    Wait inside;
    /**
     * The value that the body returned. The thread that runs the body sets it before it reports the end to the tracker.
     * Published by {@code ended}.
     */
    @Nullable
    T value;
    private volatile @Nullable Failure failure;
    /** Published by {@code ended}. */
    private @Nullable Throwable thrown;
    /**
     * The poisoned variable that the operation was skipped for. The exception is created when a caller asks for it, not
     * under the tracker lock. Published by {@code ended}.
     */
    private @Nullable Var skippedFor;
    /**
     * Whether the operation has ended. The future is completed a little later, when the completing worker holds no
     * operation that a dependent stage might wait for.
     */
    private volatile boolean ended;

    OpFuture(Operation op) {
        this.op = op;
    }

    /** Records that the body failed; under the tracker lock. */
    void failed(Failure f) {
        failure = f;
        thrown = f.cause;
    }

    /** Records that the operation was skipped; under the tracker lock. */
    void skippedBy(Failure f, Var var) {
        failure = f;
        skippedFor = var;
    }

    /** Returns the exception of the operation, or null if it has a value. */
    private @Nullable Throwable thrown() {
        Failure f = failure;
        Var var = skippedFor;
        if (f == null || var == null) {
            return thrown;
        }
        synchronized (f) {
            Throwable t = thrown;
            if (t == null) {
                t = f.on(var);
                thrown = t;
            }
            return t;
        }
    }

    /** Records that the operation has ended; under the tracker lock. From now on the future is done. */
    void end() {
        ended = true;
        wakeWaiters();
    }

    @Override
    EngineCore engine() {
        return op.core;
    }

    @Override
    Operation operation() {
        return op;
    }

    @Override
    List<EngineFuture<?>> pendingSources() {
        return List.of();
    }

    @Override
    boolean needsAllSources() {
        return true;
    }

    @Override
    @Nullable
    Composition openComposition() {
        return null;
    }

    /** Whether the result is the operation's own, as opposed to one that user code has completed the future with. */
    private boolean isEnded() {
        return ended && !isSettled();
    }

    @Override
    boolean isOver() {
        return ended || isSettled();
    }

    @SuppressWarnings("NullAway") // Null is a legal value if T permits it.
    private T result() throws ExecutionException {
        Throwable t = thrown();
        if (t == null) {
            return value;
        }
        if (t instanceof CancellationException cancellation) {
            throw cancellation;
        }
        throw new ExecutionException(t instanceof CompletionException && t.getCause() != null ? t.getCause() : t);
    }

    @SuppressWarnings("NullAway") // As above.
    private T joined() {
        Throwable t = thrown();
        if (t == null) {
            return value;
        }
        if (t instanceof CancellationException cancellation) {
            throw cancellation;
        }
        throw t instanceof CompletionException completion ? completion : new CompletionException(t);
    }

    @Override
    public boolean isDone() {
        return isOver();
    }

    /**
     * Overrides the method that futures have since Java 19: the result is there as soon as the operation has ended,
     * although the dependents of this future are called later.
     */
    @SuppressWarnings("NullAway") // Null is a legal value if T permits it.
    T resultNow() {
        requireDone();
        if (isCompletedExceptionally()) {
            throw new IllegalStateException(
                    "operation '" + op.name + "' has no result, because it has failed: see exceptionNow()");
        }
        return isEnded() ? value : super.join();
    }

    /** Overrides the method that futures have since Java 19, as {@link #resultNow} does. */
    Throwable exceptionNow() {
        requireDone();
        Throwable t = isEnded() ? thrown() : isCompletedExceptionally() ? completedWith() : null;
        if (t == null || t instanceof CancellationException) {
            throw new IllegalStateException("operation '" + op.name + "' has "
                    + (t == null
                            ? "a result, and no exception: see resultNow()"
                            : "been cancelled: see isCancelled()"));
        }
        observe();
        return t instanceof CompletionException && t.getCause() != null ? t.getCause() : t;
    }

    @Override
    public boolean isCompletedExceptionally() {
        return isEnded() ? failure != null : super.isCompletedExceptionally();
    }

    @Override
    public boolean isCancelled() {
        return isEnded() ? thrown instanceof CancellationException : super.isCancelled();
    }

    @Override
    public T getNow(T valueIfAbsent) {
        return isEnded() ? joined() : super.getNow(valueIfAbsent);
    }

    @Override
    public boolean complete(T other) {
        return !ended && super.complete(other);
    }

    @Override
    public boolean completeExceptionally(Throwable other) {
        return !ended && super.completeExceptionally(other);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return ended ? isCancelled() : super.cancel(mayInterruptIfRunning);
    }

    /** Completes the future, after the tracker has processed the end of the operation; under no lock. */
    void settle() {
        Failure f = failure;
        Throwable t = thrown();
        if (f == null || t == null) {
            super.complete(value);
            return;
        }
        // A dependent stage observes the failure. A waiting thread marks the failure as observed itself.
        if (hasDependents()) {
            f.observed = true;
        }
        super.completeExceptionally(t);
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        try {
            await(Deadline.NEVER);
        } catch (TimeoutException e) {
            throw Deadline.endless(e);
        }
        observe();
        return isEnded() ? result() : super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        await(Deadline.after(unit.toNanos(timeout)));
        observe();
        return isEnded() ? result() : super.get();
    }

    @Override
    public T join() {
        awaitUninterruptibly();
        observe();
        return isEnded() ? joined() : super.join();
    }

    private void observe() {
        Failure f = failure;
        if (f != null) {
            f.observed = true;
        }
    }

    @Override
    public String toString() {
        return Objects.toString(op) + ": " + super.toString();
    }

    private void requireDone() {
        if (!isDone()) {
            throw new IllegalStateException("operation '" + op.name + "' has not ended: wait for it first");
        }
    }

    /** Returns the exception with which a caller has completed this future. */
    private Throwable completedWith() {
        try {
            super.join();
        } catch (CancellationException e) {
            return e;
        } catch (CompletionException e) {
            return e.getCause() == null ? e : e.getCause();
        }
        throw new IllegalStateException("operation '" + op.name + "' has a result, and no exception: see resultNow()");
    }
}

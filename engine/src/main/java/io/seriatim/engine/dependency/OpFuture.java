package io.seriatim.engine.dependency;

import io.seriatim.engine.Var;
import io.seriatim.engine.sync.Deadline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The future of a submitted operation. Waiting for it is a wait of the engine: another worker takes the place of a
 * waiting worker, and on an engine without workers the waiting thread runs ready operations.
 */
public final class OpFuture<T> extends CompletableFuture<T> {
    private static final VarHandle WAITING;

    static {
        try {
            WAITING = MethodHandles.lookup().findVarHandle(OpFuture.class, "waiting", Waiting.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Operation op;
    /** The waits for this future that were made inside operations; guarded by the tracker lock. */
    @Nullable
    public Wait inside;
    /** Created by the first thread that waits. */
    private volatile @Nullable Waiting waiting;
    /**
     * The value that the body returned. The thread that runs the body sets it before it reports the end to the tracker.
     */
    @Nullable
    T value;
    private volatile @Nullable Failure failure;
    private @Nullable Throwable thrown;
    /**
     * The poisoned variable that the operation was skipped for. The exception is created when a caller asks for it, not
     * under the tracker lock.
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
    public void failed(Failure f) {
        failure = f;
        thrown = f.cause;
    }

    /** Records that the operation was skipped; under the tracker lock. */
    public void skippedBy(Failure f, Var var) {
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
    public void end() {
        ended = true;
        Waiting w = waiting;
        if (w != null) {
            w.end();
        }
    }

    /** Whether user code has registered a dependent stage. */
    boolean hasDependents() {
        return getNumberOfDependents() > (waiting == null ? 0 : 1);
    }

    /** Whether the result is the operation's own, as opposed to one that user code has completed the future with. */
    private boolean isEnded() {
        return ended && !super.isDone();
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
        return ended || super.isDone();
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
        await();
        observe();
        return isEnded() ? result() : super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        if (!isDone()) {
            op.core.awaitFuture(this, op, Deadline.after(unit.toNanos(timeout)));
        }
        observe();
        return isEnded() ? result() : super.get(Math.max(timeout, isDone() ? 1 : timeout), unit);
    }

    @Override
    public T join() {
        boolean interrupted = false;
        while (!isDone()) {
            try {
                await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        observe();
        return isEnded() ? joined() : super.join();
    }

    private void await() throws InterruptedException {
        if (!isDone()) {
            try {
                op.core.awaitFuture(this, op, Deadline.NEVER);
            } catch (TimeoutException e) {
                throw Deadline.endless(e);
            }
        }
    }

    private void observe() {
        Failure f = failure;
        if (f != null) {
            f.observed = true;
        }
    }

    /** Registers a waiter, which is signalled when the future is done, no matter who completes it. */
    public void addWaiter(Waiter waiter) {
        Waiting w = waiting;
        if (w == null) {
            Waiting made = new Waiting();
            if (WAITING.compareAndSet(this, null, made)) {
                super.whenComplete((result, t) -> made.end()).isDone();
            }
            w = Objects.requireNonNull(waiting);
            if (ended) {
                w.end();
            }
        }
        w.add(waiter);
    }

    /** Removes a waiter that no longer waits. */
    public void removeWaiter(Waiter waiter) {
        Waiting w = waiting;
        if (w != null) {
            w.remove(waiter);
        }
    }

    /**
     * The threads that wait for one future. They share a single dependent stage of the future, so that waits which time
     * out leave no stages behind. Has a monitor of its own, because user code may hold the future's.
     */
    private static final class Waiting {
        private static final Consumer<Waiter> SIGNAL = Waiter::signal;

        private final WaiterList waiters = new WaiterList();
        private boolean ended;

        synchronized void add(Waiter waiter) {
            if (ended) {
                waiter.signal();
            } else {
                waiters.add(waiter);
            }
        }

        synchronized void remove(Waiter waiter) {
            waiters.remove(waiter);
        }

        synchronized void end() {
            ended = true;
            waiters.removeAll(SIGNAL);
        }
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }

    @Override
    public String toString() {
        return Objects.toString(op) + ": " + super.toString();
    }
}

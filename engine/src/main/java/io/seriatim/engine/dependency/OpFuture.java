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
 * The future of a submitted operation. Waiting for it counts as a wait of the engine: it frees the worker, and may
 * help.
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
    /** Waits inside operations for this; guarded by the tracker lock. */
    @Nullable
    public Wait inside;
    /** Made by the first thread that waits. */
    private volatile @Nullable Waiting waiting;
    /** What the body returned; set by the thread that runs it before it tells the tracker. */
    @Nullable
    T value;
    private volatile @Nullable Failure failure;
    private @Nullable Throwable thrown;
    /**
     * The poisoned variable that the operation was skipped for; what that throws is made when someone asks, not under
     * the tracker lock.
     */
    private @Nullable Var skippedFor;
    /**
     * Whether the operation has ended; the future is completed a little later, when no worker holds anything that its
     * dependents might wait for.
     */
    private volatile boolean ended;

    OpFuture(Operation op) {
        this.op = op;
    }

    /** The body failed; under the tracker lock. */
    public void failed(Failure f) {
        failure = f;
        thrown = f.cause;
    }

    /** The operation was skipped; under the tracker lock. */
    public void skippedBy(Failure f, Var var) {
        failure = f;
        skippedFor = var;
    }

    /** What the operation left instead of a value, or null. */
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

    /** The operation has ended; under the tracker lock. Whoever looks sees the future done. */
    public void end() {
        ended = true;
        Waiting w = waiting;
        if (w != null) {
            w.end();
        }
    }

    /** Whether users have registered something that is called when this is completed. */
    boolean hasDependents() {
        return getNumberOfDependents() > (waiting == null ? 0 : 1);
    }

    /** Whether what is seen is what the operation left, and not what someone else has completed the future with. */
    private boolean isEnded() {
        return ended && !super.isDone();
    }

    @SuppressWarnings("NullAway") // null is a value where T has it.
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

    /** Tells the end, after the tracker knows of it; under no lock. */
    void settle() {
        Failure f = failure;
        Throwable t = thrown();
        if (f == null || t == null) {
            super.complete(value);
            return;
        }
        // A callback of the user's is told; a thread that waits says itself that it has seen the failure.
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

    /** Ends a wait when the future is done, whoever completed it. */
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

    /** Such a wait is over. */
    public void removeWaiter(Waiter waiter) {
        Waiting w = waiting;
        if (w != null) {
            w.remove(waiter);
        }
    }

    /**
     * The threads that wait for one future: one dependent of the future however many they are and however often they
     * look, so that those that give up leave nothing behind. A monitor of its own, because users may hold the future's.
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

package io.seriatim.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.sync.Deadline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A future of an operation, or one derived from such a future. Waiting for it is a wait of the engine: another worker
 * takes the place of a waiting worker, on an engine without workers the waiting thread runs ready operations, and
 * inside an operation a wait that could never end is refused.
 *
 * <p>
 * {@code CompletableFuture} makes dependent futures by {@link #newIncompleteFuture}, so each of them is of this class
 * too. The methods that take a second stage, or a function that returns one, are overridden to record what the
 * dependent future needs besides this one.
 */
abstract sealed class EngineFuture<T> extends CompletableFuture<T> permits OpFuture, DerivedFuture {
    private static final VarHandle WAITING;

    static {
        try {
            WAITING = MethodHandles.lookup().findVarHandle(EngineFuture.class, "waiting", Waiting.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Created by the first thread that waits. */
    private volatile @Nullable Waiting waiting;

    /** Returns the engine of the operation that this future is derived from. */
    abstract EngineCore engine();

    /** Returns the operation whose future this is, or null if it is a derived one. */
    abstract @Nullable Operation operation();

    /** Returns the futures of ours that this one is derived from and that are pending. */
    abstract List<EngineFuture<?>> pendingSources();

    /** Returns whether this future needs all its sources, as opposed to one of two. */
    abstract boolean needsAllSources();

    /** Returns the composition that has not returned its stage yet, or null. */
    abstract @Nullable Composition openComposition();

    /** Returns whether this future is complete and its dependents are being called. */
    final boolean isSettled() {
        return super.isDone();
    }

    /** Returns whether a wait for this future is over. */
    boolean isOver() {
        return isSettled();
    }

    // --- waits

    /**
     * Waits until this future is done, in any way.
     *
     * @param deadline
     *            a {@link System#nanoTime}, or {@link Deadline#NEVER}
     */
    final void await(long deadline) throws InterruptedException, TimeoutException {
        while (!isOver()) {
            Dependencies on = new Dependencies(this);
            // Returns early if a composition has returned its stage, or the operations of one of several engines have
            // ended.
            on.engine().waits.forFuture(this, on, deadline);
        }
    }

    private void await() throws InterruptedException {
        try {
            await(Deadline.NEVER);
        } catch (TimeoutException e) {
            throw Deadline.endless(e);
        }
    }

    /** Returns whether threads that wait for this future run operations themselves. */
    final boolean runsInWaits() {
        return !engine().dispatcher.hasWorkers();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        await();
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        await(Deadline.after(unit.toNanos(timeout)));
        return super.get();
    }

    @Override
    public T join() {
        awaitUninterruptibly();
        return super.join();
    }

    /** Waits until this future is done. An interrupt does not end the wait; the flag is set again after it. */
    final void awaitUninterruptibly() {
        boolean interrupted = false;
        while (!isOver()) {
            try {
                await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Registers a waiter, which is signalled when the future is done, no matter who completes it. */
    final void addWaiter(Waiter waiter) {
        Waiting w = waiting;
        if (w == null) {
            Waiting made = new Waiting();
            if (WAITING.compareAndSet(this, null, made)) {
                registered(super.whenComplete((result, t) -> made.end()));
            }
            w = Objects.requireNonNull(waiting);
            if (isOver()) {
                w.end();
            }
        }
        w.add(waiter);
    }

    /** Takes the future of a callback that was registered, of which nothing is wanted. */
    private static void registered(CompletableFuture<?> dependent) {
        Objects.requireNonNull(dependent);
    }

    /** Removes a waiter that no longer waits. */
    final void removeWaiter(Waiter waiter) {
        Waiting w = waiting;
        if (w != null) {
            w.remove(waiter);
        }
    }

    /** Wakes the waiting threads before the future is complete. */
    final void wakeWaiters() {
        Waiting w = waiting;
        if (w != null) {
            w.end();
        }
    }

    /** Returns whether user code has registered a dependent stage. */
    final boolean hasDependents() {
        return getNumberOfDependents() > (waiting == null ? 0 : 1);
    }

    /**
     * The threads that wait for one future. They share a single dependent stage of the future, so that waits which time
     * out leave no stages behind. Has a monitor of its own, because user code may hold the future's.
     */
    private static final class Waiting {
        private static final Consumer<Waiter> SIGNAL = Waiter::signal;

        @GuardedBy("this")
        private final WaiterList waiters = new WaiterList();
        @GuardedBy("this")
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

    // --- dependent futures

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new DerivedFuture<>(this);
    }

    /** The stage of {@code super} would lead back to a future of the JDK. */
    @Override
    public final CompletionStage<T> minimalCompletionStage() {
        return relay(new MinimalFuture<>(this));
    }

    /** Completes a future with the result of this one, as a dependent stage sees it. */
    final <F extends EngineFuture<T>> F relay(F to) {
        EngineFuture<T> ours = to;
        registered(super.whenComplete(ours::settle));
        return to;
    }

    @SuppressWarnings("NullAway") // Null is a legal value if T permits it.
    private void settle(@Nullable T value, @Nullable Throwable thrown) {
        if (thrown == null) {
            super.complete(value);
        } else {
            super.completeExceptionally(
                    thrown instanceof CompletionException ? thrown : new CompletionException(thrown));
        }
    }

    private static <U> CompletableFuture<U> both(CompletableFuture<U> derived, CompletionStage<?> other) {
        if (derived instanceof DerivedFuture<U> ours) {
            ours.needs(other);
        }
        return derived;
    }

    /** If the other stage is done, {@code super} derives from it alone; then the result may not be one of ours. */
    private <U> CompletableFuture<U> either(CompletableFuture<U> derived, CompletionStage<?> other) {
        if (derived instanceof DerivedFuture<U> ours) {
            ours.needsEither(other);
            return ours;
        }
        CompletableFuture<U> ours = newIncompleteFuture();
        if (ours instanceof DerivedFuture<U> future) {
            future.needsEither(derived);
            EngineFuture<U> to = future;
            registered(derived.whenComplete(to::settle));
        }
        return ours;
    }

    private static <U> CompletableFuture<U> composed(CompletableFuture<U> derived, Composition composition) {
        if (derived instanceof DerivedFuture<U> ours) {
            ours.needs(composition);
        }
        return derived;
    }

    @Override
    public final <U> CompletableFuture<U> thenCompose(Function<? super T, ? extends CompletionStage<U>> fn) {
        Composition composition = new Composition();
        return composed(super.thenCompose(composition.observe(Objects.requireNonNull(fn))), composition);
    }

    @Override
    public final <U> CompletableFuture<U> thenComposeAsync(Function<? super T, ? extends CompletionStage<U>> fn) {
        Composition composition = new Composition();
        return composed(super.thenComposeAsync(composition.observe(Objects.requireNonNull(fn))), composition);
    }

    @Override
    public final <U> CompletableFuture<U> thenComposeAsync(Function<? super T, ? extends CompletionStage<U>> fn,
            Executor executor) {
        Composition composition = new Composition();
        return composed(super.thenComposeAsync(composition.observe(Objects.requireNonNull(fn)), executor), composition);
    }

    @Override
    public final CompletableFuture<T> exceptionallyCompose(
            Function<Throwable, ? extends CompletionStage<T>> fn) {
        Composition composition = new Composition();
        return composed(super.exceptionallyCompose(composition.observe(Objects.requireNonNull(fn))), composition);
    }

    @Override
    public final CompletableFuture<T> exceptionallyComposeAsync(
            Function<Throwable, ? extends CompletionStage<T>> fn) {
        Composition composition = new Composition();
        return composed(super.exceptionallyComposeAsync(composition.observe(Objects.requireNonNull(fn))), composition);
    }

    @Override
    public final CompletableFuture<T> exceptionallyComposeAsync(
            Function<Throwable, ? extends CompletionStage<T>> fn, Executor executor) {
        Composition composition = new Composition();
        return composed(super.exceptionallyComposeAsync(composition.observe(Objects.requireNonNull(fn)), executor),
                composition);
    }

    @Override
    public final <U, V> CompletableFuture<V> thenCombine(CompletionStage<? extends U> other,
            BiFunction<? super T, ? super U, ? extends V> fn) {
        return both(super.thenCombine(other, fn), other);
    }

    @Override
    public final <U, V> CompletableFuture<V> thenCombineAsync(CompletionStage<? extends U> other,
            BiFunction<? super T, ? super U, ? extends V> fn) {
        return both(super.thenCombineAsync(other, fn), other);
    }

    @Override
    public final <U, V> CompletableFuture<V> thenCombineAsync(CompletionStage<? extends U> other,
            BiFunction<? super T, ? super U, ? extends V> fn, Executor executor) {
        return both(super.thenCombineAsync(other, fn, executor), other);
    }

    @Override
    public final <U> CompletableFuture<Void> thenAcceptBoth(CompletionStage<? extends U> other,
            BiConsumer<? super T, ? super U> action) {
        return both(super.thenAcceptBoth(other, action), other);
    }

    @Override
    public final <U> CompletableFuture<Void> thenAcceptBothAsync(CompletionStage<? extends U> other,
            BiConsumer<? super T, ? super U> action) {
        return both(super.thenAcceptBothAsync(other, action), other);
    }

    @Override
    public final <U> CompletableFuture<Void> thenAcceptBothAsync(CompletionStage<? extends U> other,
            BiConsumer<? super T, ? super U> action, Executor executor) {
        return both(super.thenAcceptBothAsync(other, action, executor), other);
    }

    @Override
    public final CompletableFuture<Void> runAfterBoth(CompletionStage<?> other, Runnable action) {
        return both(super.runAfterBoth(other, action), other);
    }

    @Override
    public final CompletableFuture<Void> runAfterBothAsync(CompletionStage<?> other, Runnable action) {
        return both(super.runAfterBothAsync(other, action), other);
    }

    @Override
    public final CompletableFuture<Void> runAfterBothAsync(CompletionStage<?> other, Runnable action,
            Executor executor) {
        return both(super.runAfterBothAsync(other, action, executor), other);
    }

    @Override
    public final <U> CompletableFuture<U> applyToEither(CompletionStage<? extends T> other,
            Function<? super T, U> fn) {
        return either(super.applyToEither(other, fn), other);
    }

    @Override
    public final <U> CompletableFuture<U> applyToEitherAsync(CompletionStage<? extends T> other,
            Function<? super T, U> fn) {
        return either(super.applyToEitherAsync(other, fn), other);
    }

    @Override
    public final <U> CompletableFuture<U> applyToEitherAsync(CompletionStage<? extends T> other,
            Function<? super T, U> fn, Executor executor) {
        return either(super.applyToEitherAsync(other, fn, executor), other);
    }

    @Override
    public final CompletableFuture<Void> acceptEither(CompletionStage<? extends T> other,
            Consumer<? super T> action) {
        return either(super.acceptEither(other, action), other);
    }

    @Override
    public final CompletableFuture<Void> acceptEitherAsync(CompletionStage<? extends T> other,
            Consumer<? super T> action) {
        return either(super.acceptEitherAsync(other, action), other);
    }

    @Override
    public final CompletableFuture<Void> acceptEitherAsync(CompletionStage<? extends T> other,
            Consumer<? super T> action, Executor executor) {
        return either(super.acceptEitherAsync(other, action, executor), other);
    }

    @Override
    public final CompletableFuture<Void> runAfterEither(CompletionStage<?> other, Runnable action) {
        return either(super.runAfterEither(other, action), other);
    }

    @Override
    public final CompletableFuture<Void> runAfterEitherAsync(CompletionStage<?> other, Runnable action) {
        return either(super.runAfterEitherAsync(other, action), other);
    }

    @Override
    public final CompletableFuture<Void> runAfterEitherAsync(CompletionStage<?> other, Runnable action,
            Executor executor) {
        return either(super.runAfterEitherAsync(other, action, executor), other);
    }
}

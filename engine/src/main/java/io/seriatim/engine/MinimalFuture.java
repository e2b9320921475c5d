package io.seriatim.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A stage that cannot be completed, read or waited for by itself, as {@code minimalCompletionStage} returns. Its
 * {@code toCompletableFuture} is a derived future again.
 */
final class MinimalFuture<T> extends DerivedFuture<T> {
    MinimalFuture(EngineFuture<?> source) {
        super(source);
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new MinimalFuture<>(this);
    }

    @Override
    public CompletableFuture<T> toCompletableFuture() {
        return relay(new DerivedFuture<>(this));
    }

    private static UnsupportedOperationException minimal() {
        return new UnsupportedOperationException(
                "a minimal stage offers the methods of CompletionStage only: call toCompletableFuture() first");
    }

    @Override
    public T get() {
        throw minimal();
    }

    @Override
    public T get(long timeout, TimeUnit unit) {
        throw minimal();
    }

    @Override
    public T getNow(T valueIfAbsent) {
        throw minimal();
    }

    @Override
    public T join() {
        throw minimal();
    }

    /** Overrides the method that futures have since Java 19. */
    @SuppressWarnings("DoNotCallSuggester") // As the overridden methods do.
    T resultNow() {
        throw minimal();
    }

    /** Overrides the method that futures have since Java 19. */
    @SuppressWarnings("DoNotCallSuggester") // As the overridden methods do.
    Throwable exceptionNow() {
        throw minimal();
    }

    @Override
    public boolean complete(T value) {
        throw minimal();
    }

    @Override
    public boolean completeExceptionally(Throwable cause) {
        throw minimal();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        throw minimal();
    }

    @Override
    public void obtrudeValue(T value) {
        throw minimal();
    }

    @Override
    public void obtrudeException(Throwable cause) {
        throw minimal();
    }

    @Override
    public boolean isDone() {
        throw minimal();
    }

    @Override
    public boolean isCancelled() {
        throw minimal();
    }

    @Override
    public boolean isCompletedExceptionally() {
        throw minimal();
    }

    @Override
    public int getNumberOfDependents() {
        throw minimal();
    }

    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        throw minimal();
    }

    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier) {
        throw minimal();
    }

    @Override
    public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        throw minimal();
    }

    @Override
    public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        throw minimal();
    }
}

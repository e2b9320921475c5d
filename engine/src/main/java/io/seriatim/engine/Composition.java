package io.seriatim.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The stage that the function of {@code thenCompose} or {@code exceptionallyCompose} returns. It is not known before
 * the function is called, so a thread that waits for the composed future is woken then, and looks again for what it
 * waits.
 */
final class Composition {
    @GuardedBy("this")
    private boolean returned;
    /** The returned future if it is one of ours; while it is pending, its operation refers to it. */
    @GuardedBy("this")
    private @Nullable WeakReference<EngineFuture<?>> inner;
    @GuardedBy("this")
    private final List<Waiter> waiters = new ArrayList<>();

    /** Returns a function that also records what the given one returns. */
    <T, S extends @Nullable CompletionStage<?>> Function<T, S> observe(Function<? super T, ? extends S> function) {
        return value -> {
            S stage = function.apply(value);
            returned(stage);
            return stage;
        };
    }

    private synchronized void returned(@Nullable CompletionStage<?> stage) {
        returned = true;
        inner = stage instanceof EngineFuture<?> future ? new WeakReference<>(future) : null;
        waiters.forEach(Waiter::signal);
        waiters.clear();
    }

    /** Returns whether the function has not returned yet. */
    synchronized boolean isOpen() {
        return !returned;
    }

    /** Returns the future that the function has returned, if it is one of ours and pending. */
    synchronized @Nullable EngineFuture<?> pending() {
        EngineFuture<?> future = inner == null ? null : inner.get();
        return future == null || future.isSettled() ? null : future;
    }

    /** Registers a waiter, which is signalled when the function has returned. */
    synchronized void addWaiter(Waiter waiter) {
        if (returned) {
            waiter.signal();
        } else {
            waiters.add(waiter);
        }
    }

    synchronized void removeWaiter(Waiter waiter) {
        waiters.remove(waiter);
    }
}

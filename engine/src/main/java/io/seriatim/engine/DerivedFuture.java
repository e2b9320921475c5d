package io.seriatim.engine;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A future derived from one of ours, such as {@code submit(…).thenApply(…)}. Waiting for it is a wait of the engine.
 *
 * <p>
 * It refers to its sources weakly, so that a long chain of derived futures does not keep the completed ones in memory.
 * A pending source cannot be lost: the operation at its root refers to its future, and a pending future to those that
 * depend on it.
 */
sealed class DerivedFuture<T> extends EngineFuture<T> permits MinimalFuture {
    private final EngineCore engine;
    private final WeakReference<EngineFuture<?>> source;
    /**
     * The second future of {@code thenCombine} and its like, if it is one of ours. Constant after the method that
     * derives the future has returned it.
     */
    private @Nullable WeakReference<EngineFuture<?>> other;
    /**
     * Whether one of two sources suffices, as for {@code applyToEither}. Constant after the method that derives the
     * future has returned it.
     */
    private boolean either;
    /** Constant after the method that derives the future has returned it. */
    private @Nullable Composition composition;

    DerivedFuture(EngineFuture<?> source) {
        engine = source.engine();
        this.source = new WeakReference<>(source);
    }

    /** Records that this future needs another stage as well. */
    final void needs(Object stage) {
        if (stage instanceof EngineFuture<?> future) {
            other = new WeakReference<>(future);
        }
    }

    /** Records that this future needs its source or another stage. */
    final void needsEither(Object stage) {
        either = true;
        needs(stage);
    }

    /** Records that this future needs the stage that a function returns. */
    final void needs(Composition composed) {
        composition = composed;
    }

    @Override
    final EngineCore engine() {
        return engine;
    }

    @Override
    final @Nullable Operation operation() {
        return null;
    }

    @Override
    final List<EngineFuture<?>> pendingSources() {
        Composition composed = composition;
        return Stream.<@Nullable EngineFuture<?>>of(pending(source), pending(other),
                composed == null ? null : composed.pending()).<EngineFuture<?>>mapMulti((future, to) -> {
                    if (future != null) {
                        to.accept(future);
                    }
                }).toList();
    }

    private static @Nullable EngineFuture<?> pending(@Nullable WeakReference<EngineFuture<?>> reference) {
        EngineFuture<?> future = reference == null ? null : reference.get();
        return future == null || future.isSettled() ? null : future;
    }

    @Override
    final boolean needsAllSources() {
        return !either;
    }

    @Override
    final @Nullable Composition openComposition() {
        Composition composed = composition;
        return composed != null && composed.isOpen() ? composed : null;
    }

    @Override
    public String toString() {
        return "derived from a future of engine '" + engine.name + "': " + super.toString();
    }
}

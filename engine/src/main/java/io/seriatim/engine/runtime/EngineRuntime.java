package io.seriatim.engine.runtime;

import org.jspecify.annotations.Nullable;

/**
 * The services that the static methods of the API need from the implementation. The API finds the only provider by the
 * service loader, so that it imports no package of the implementation but this one. This package imports none of the
 * API, whose types are type parameters here.
 *
 * @param <B> the type {@code Engine.Builder}
 * @param <C> the type {@code RunContext}
 * @param <V> the type {@code Var}
 */
public interface EngineRuntime<B, C, V> {
    /** Returns a new builder of engines. */
    B builder();

    /** Returns the context of the operation that the calling thread runs, or null. */
    @Nullable
    C context();

    /** Returns whether the calling thread runs an operation. */
    boolean isInside();

    /**
     * Announces that the calling thread is about to block. Returns whether the thread is a worker, and so must call
     * {@link #unblock} afterwards.
     */
    boolean block();

    /** Ends the effect of {@link #block}. */
    void unblock();

    /**
     * Checks, on a checked engine, that the calling thread's operation has declared a read or a mutation of a variable.
     */
    void checkReads(V var);

    /** Checks, on a checked engine, that the calling thread's operation has declared a mutation of a variable. */
    void checkMutates(V var);
}

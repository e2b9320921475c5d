package io.seriatim.engine.runtime;

import org.jspecify.annotations.Nullable;

/**
 * What the static methods of the API ask of the implementation. The API finds the one provider as a service, so that it
 * needs no package of the implementation; and this package needs none of the API, whose types are parameters here.
 *
 * @param <B>
 *            {@code Engine.Builder}
 * @param <C>
 *            {@code RunContext}
 * @param <V>
 *            {@code Var}
 */
public interface EngineRuntime<B, C, V> {
    /** Begins the description of an engine. */
    B builder();

    /** The context of the operation that the calling thread runs, or null. */
    @Nullable
    C context();

    /** Whether the calling thread runs an operation. */
    boolean isInside();

    /** The calling thread is about to block. Returns whether it is a worker, and so must call {@link #unblock} then. */
    boolean block();

    /** The calling thread has blocked. */
    void unblock();

    /** Checks on a checked engine that the operation that the calling thread runs may read the value of a variable. */
    void checkReads(V var);

    /** As {@link #checkReads}, for a change. */
    void checkMutates(V var);
}

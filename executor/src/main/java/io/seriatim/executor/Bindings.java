package io.seriatim.executor;

import org.jspecify.annotations.Nullable;

/** The variables around a run of a block: what is fed and a scope, or the environment of an inner block. */
interface Bindings {
    /** A variable's value; null if it has none. */
    @Nullable
    Object find(String name);

    /** Gives a variable its value. */
    void set(String name, Object value);

    /** Where packed forms of a variable are kept; null if nowhere. */
    default @Nullable PackedWeights packed(String name) {
        return null;
    }
}

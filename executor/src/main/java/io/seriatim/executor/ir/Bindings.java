package io.seriatim.executor.ir;

import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** The variables around a run of a block: what is fed and a scope, or the environment of an inner block. */
public interface Bindings {
    /** A variable's value; null if it has none. */
    @Nullable
    Object find(String name);

    /** Gives a variable its value. */
    void set(String name, Object value);

    /** Makes a variable a name of memory that it shares with others. */
    void alias(String name, Tensor value);

    /** Whether any variables may share memory. */
    boolean sharesMemory();

    /** Whether a variable's memory is also another one's. */
    boolean isShared(Tensor tensor);

    /** Where packed forms of a variable are kept; null if nowhere. */
    default @Nullable PackedWeights packed(String name) {
        return null;
    }
}

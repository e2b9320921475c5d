package io.seriatim.executor.ir;

import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** The variables outside of a run of a block: those of a scope, or those of the enclosing block. */
public interface Bindings {
    /** Returns the value of a variable; null if it has none. */
    @Nullable
    Object find(String name);

    /** Sets the value of a variable. */
    void set(String name, Object value);

    /** Makes a variable share the memory of a tensor with other variables. */
    void alias(String name, Tensor value);

    /** Returns whether any variables may share memory. */
    boolean sharesMemory();

    /** Returns whether a variable shares its memory with another variable. */
    boolean isShared(Tensor tensor);

    /** Returns the cache of packed forms of a variable; null if there is none. */
    default @Nullable PackedWeights packed(String name) {
        return null;
    }

    /** Returns the cache of what is computed from a variable and others; null if there is none. */
    default @Nullable KeptResults kept(String name) {
        return null;
    }
}

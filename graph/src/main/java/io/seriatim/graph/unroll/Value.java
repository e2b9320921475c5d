package io.seriatim.graph.unroll;

import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The value that a variable has at some point.
 *
 * @param variable
 *            that has it; null if it is a literal that may have to be written first
 * @param literal
 *            its elements, if they are known
 */
record Value(@Nullable String variable, @Nullable Tensor literal) {
    static Value of(String variable) {
        return new Value(variable, null);
    }

    static Value of(Tensor literal) {
        return new Value(null, literal);
    }
}

package io.seriatim.tensor.kernel;

import io.seriatim.tensor.TensorSpec;
import java.io.Serial;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Memory was exhausted while a kernel was prepared. Whoever asked for it knows the operation that it computes. */
public final class PreparationMemoryError extends OutOfMemoryError {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient Computation computation;
    private final transient List<@Nullable TensorSpec> arguments;

    PreparationMemoryError(Computation computation, List<@Nullable TensorSpec> arguments, OutOfMemoryError cause) {
        super(cause.getMessage());
        initCause(cause);
        this.computation = computation;
        this.arguments = Collections.unmodifiableList(arguments);
    }

    /**
     * What the kernel was to compute.
     *
     * @return the computation, which passes may have made from those of several operations
     */
    public Computation computation() {
        return computation;
    }

    /**
     * The types and shapes for which the kernel was prepared.
     *
     * @return inputs, then outputs; null for those that were left out
     */
    public List<@Nullable TensorSpec> arguments() {
        return arguments;
    }
}

package io.seriatim.tensor.kernel;

import io.seriatim.tensor.TensorSpec;
import org.jspecify.annotations.Nullable;

/**
 * Prepares kernels of one kind of computation.
 *
 * @param <C>
 *            the computation's record
 */
@FunctionalInterface
public interface KernelFactory<C extends Computation> {
    /**
     * Prepares a kernel.
     *
     * @param computation
     *            the computation
     * @param arguments
     *            inputs, then outputs, checked by {@link Computation#infer}; null for those that were left out
     * @return the kernel; null if this factory has none for these arguments, so that the next one is asked
     */
    @Nullable
    Kernel prepare(C computation, @Nullable TensorSpec[] arguments);
}

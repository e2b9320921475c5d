package io.seriatim.tensor.kernel;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import org.jspecify.annotations.Nullable;

/**
 * A computation prepared for the types, shapes and layouts of its operands. Made once, run many times, by many threads
 * at once; a run allocates nothing on the heap or off it, beyond what its context keeps.
 */
public interface Kernel extends AutoCloseable {
    /**
     * Computes.
     *
     * @param arguments
     *            inputs, then outputs, as prepared; null for those that were left out
     * @param context
     *            the calling thread's
     */
    void run(@Nullable Tensor[] arguments, KernelContext context);

    /**
     * Which library or kind of code it is.
     *
     * @return for instance {@code onednn}, {@code java}, {@code portable}
     */
    String provider();

    /**
     * The layout in which an argument is read fastest. A caller that uses the same weights many times copies them to it
     * once, and prepares the kernel again with it.
     *
     * @param argument
     *            its index among inputs and outputs
     * @param given
     *            what it was prepared with
     * @return {@code given} if there is nothing better
     */
    default TensorSpec preferred(int argument, TensorSpec given) {
        return given;
    }

    /** Makes what a first run, on one thread, would make before it begins, such as code of a library. */
    default void load() {
        // Plain Java makes nothing.
    }

    /**
     * How much memory it holds off the heap, for caches that are bounded.
     *
     * @return an estimate in bytes; 0 if it holds none
     */
    default long bytes() {
        return 0;
    }

    /**
     * Gives back the memory that it holds off the heap, once no run uses it. A run that begins later makes anew what it
     * needs.
     */
    default void release() {
        // Plain Java holds nothing.
    }

    /** Releases what was made for it, after the runs that are under way; a run that begins later fails. */
    @Override
    default void close() {
        // Plain Java has nothing to release.
    }
}

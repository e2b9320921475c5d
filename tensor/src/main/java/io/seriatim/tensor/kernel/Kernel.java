package io.seriatim.tensor.kernel;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import org.jspecify.annotations.Nullable;

/**
 * A computation prepared for the types, shapes and layouts of its operands. It is prepared once and runs many times, on
 * many threads at once; a run allocates no memory beyond that of its context.
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
     * @return {@code given} if no other one is faster
     */
    default TensorSpec preferred(int argument, TensorSpec given) {
        return given;
    }

    /** Creates the objects that a first run on one thread would create, such as a library's generated code. */
    default void load() {
        // Plain Java makes nothing.
    }

    /**
     * The memory that it holds off the heap, for bounded caches.
     *
     * @return an estimate in bytes; 0 if it holds none
     */
    default long bytes() {
        return 0;
    }

    /**
     * The memory that it will hold off the heap once it has been loaded. Caches count it from the start, since they are
     * not told when a kernel is loaded.
     *
     * @return an estimate in bytes, at least {@link #bytes}
     */
    default long loadedBytes() {
        return bytes();
    }

    /** Frees the memory that it holds off the heap, once no run uses it. A later run creates it again. */
    default void release() {
        // Plain Java holds nothing.
    }

    /** Releases its objects after the current runs; a later run fails. */
    @Override
    default void close() {
        // Plain Java has nothing to release.
    }
}

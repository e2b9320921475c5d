package io.seriatim.tensor.kernel;

/**
 * The kernels of one library or one kind of code. Providers are found as services: a module that provides one adds its
 * kernels to {@link Kernels#system}. The registry asks providers in the order of {@link #rank}; the first one that
 * prepares a kernel for the operands at hand is taken.
 */
public interface KernelProvider {
    /** The rank of kernels in plain Java that are faster than a library's. */
    int SPECIALISED = 100;

    /** The rank of a library's kernels. */
    int LIBRARY = 200;

    /** The rank of the reference kernels, which serve all operands and are asked last. */
    int REFERENCE = 300;

    /**
     * The position among the providers: providers with smaller ranks are asked first.
     *
     * @return for instance {@link #LIBRARY}; {@link #REFERENCE} marks the kernels that {@link Kernels#portable} holds
     */
    int rank();

    /**
     * Registers the kernels. A library that cannot be loaded registers none and logs the reason.
     *
     * @param kernels
     *            the registry
     */
    void register(Kernels kernels);

    /** Starts to load libraries that {@link #register} needs in the background. */
    default void loadAhead() {
        // Plain Java needs nothing.
    }
}

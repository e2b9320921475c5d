package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.kernel.Kernels;

/** All kernels in plain Java. */
public final class PortableKernels {
    static final String PROVIDER = "portable";
    static final String CPU = "cpu";

    private PortableKernels() {
    }

    /**
     * Adds them.
     *
     * @param kernels
     *            the registry
     */
    public static void register(Kernels kernels) {
        NetworkKernels.register(kernels);
        ArrayKernels.register(kernels);
    }
}

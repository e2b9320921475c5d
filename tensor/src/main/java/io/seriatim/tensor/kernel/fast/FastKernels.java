package io.seriatim.tensor.kernel.fast;

import io.seriatim.tensor.kernel.Kernels;

/** Kernels in Java that work on tiles, so that the JIT compiles their loops to vector instructions. */
public final class FastKernels {
    private FastKernels() {
    }

    /**
     * Adds them.
     *
     * @param kernels
     *            the registry
     */
    public static void register(Kernels kernels) {
    }
}

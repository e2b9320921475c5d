package io.seriatim.tensor.onednn;

import io.seriatim.tensor.kernel.Kernels;

/** The kernels of oneDNN. */
public final class OneDnnKernels {
    private OneDnnKernels() {
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

package io.seriatim.executor.pass;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Stage;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import org.jspecify.annotations.Nullable;

/**
 * Which library computes a stage on the host. A pass that rewrites a stage keeps the result only if it does not move
 * the work from a fast library to a slower one.
 */
final class Providers {
    private Providers() {
    }

    /** Returns the provider of a stage's kernel; null if no kernel supports it, or the stage is a host function. */
    static @Nullable String of(PreparedKernels kernels, Stage stage) {
        Computation computation = stage.computation();
        Kernel kernel = computation == null ? null : kernels.find(computation, Place.CPU, stage.specs());
        return kernel == null ? null : kernel.provider();
    }

    /** Returns whether both stages have kernels, of the same provider. */
    static boolean haveTheSame(PreparedKernels kernels, Stage before, Stage after) {
        String provider = of(kernels, before);
        return provider != null && provider.equals(of(kernels, after));
    }
}

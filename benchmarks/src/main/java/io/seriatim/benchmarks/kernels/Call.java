package io.seriatim.benchmarks.kernels;

import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A kernel with its operands. */
final class Call implements Runnable, AutoCloseable {
    private final Kernel kernel;
    private final @Nullable Tensor[] arguments;
    private final KernelContext context = new KernelContext(1);

    Call(Computation computation, @Nullable Tensor... arguments) {
        this.arguments = arguments;
        @Nullable
        TensorSpec[] specs = Arrays.stream(arguments).map(tensor -> tensor == null ? null : tensor.spec())
                .toArray(TensorSpec[]::new);
        kernel = Kernels.system().prepare(computation, Place.CPU, specs);
    }

    @Override
    public void run() {
        kernel.run(arguments, context);
    }

    String provider() {
        return kernel.provider();
    }

    @Override
    public void close() {
        kernel.close();
        context.close();
        for (Tensor tensor : arguments) {
            if (tensor != null) {
                tensor.close();
            }
        }
    }
}

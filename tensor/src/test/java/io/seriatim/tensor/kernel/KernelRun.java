package io.seriatim.tensor.kernel;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Prepares and runs a kernel once. */
final class KernelRun {
    private KernelRun() {
    }

    /** With outputs made as the computation infers them. */
    static Tensor[] run(Kernels kernels, Computation computation, @Nullable Tensor... inputs) {
        TensorSpec[] specs = computation.infer(specs(inputs));
        Tensor[] outputs = new Tensor[specs.length];
        for (int i = 0; i < specs.length; i++) {
            outputs[i] = Tensor.allocate(Devices.system().host(), specs[i]);
            // What is not written shows.
            outputs[i].memory().fill((byte) 0x7f);
        }
        into(kernels, computation, outputs, inputs);
        return outputs;
    }

    /** Into given outputs, of which some may be left out. */
    static void into(Kernels kernels, Computation computation, @Nullable Tensor[] outputs, @Nullable Tensor... inputs) {
        @Nullable
        Tensor[] arguments = Arrays.copyOf(inputs, inputs.length + outputs.length);
        System.arraycopy(outputs, 0, arguments, inputs.length, outputs.length);
        try (Kernel kernel = kernels.prepare(computation, Place.CPU, specs(arguments))) {
            kernel.run(arguments, KernelContext.current());
        }
    }

    private static @Nullable TensorSpec[] specs(@Nullable Tensor[] tensors) {
        return Arrays.stream(tensors).map(tensor -> tensor == null ? null : tensor.spec()).toArray(TensorSpec[]::new);
    }
}

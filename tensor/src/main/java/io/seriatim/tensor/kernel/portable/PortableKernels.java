package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.KernelFactory;
import io.seriatim.tensor.kernel.KernelProvider;
import io.seriatim.tensor.kernel.Kernels;

/** All kernels in plain Java. */
public final class PortableKernels implements KernelProvider {
    static final String PROVIDER = "portable";
    static final String CPU = "cpu";

    /** Made by the service loader. */
    public PortableKernels() {
        // It has no state.
    }

    @Override
    public int rank() {
        return REFERENCE;
    }

    @Override
    public void register(Kernels kernels) {
        NetworkKernels.register(kernels);
        ArrayKernels.register(kernels);
        ComplexKernels.register(kernels);
        IndexKernels.register(kernels);
        RandomKernels.register(kernels);
        OptimizerKernels.register(kernels);
    }

    /** Opaque layouts are only for the library that made them. */
    static <C extends Computation> KernelFactory<C> plain(KernelFactory<C> factory) {
        return (computation, arguments) -> {
            for (TensorSpec argument : arguments) {
                if (argument != null && argument.layout() instanceof Layout.Opaque) {
                    return null;
                }
            }
            return factory.prepare(computation, arguments);
        };
    }
}

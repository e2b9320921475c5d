/**
 * Tensors, kernels and arrays on an engine.
 */
module io.seriatim.tensor {
    requires static com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive io.seriatim.device;
    requires transitive io.seriatim.engine;

    exports io.seriatim.tensor;
    exports io.seriatim.tensor.array;
    exports io.seriatim.tensor.computation;
    exports io.seriatim.tensor.computation.network;
    exports io.seriatim.tensor.kernel;
    exports io.seriatim.tensor.onednn;

    uses io.seriatim.tensor.kernel.KernelProvider;

    provides io.seriatim.tensor.kernel.KernelProvider with
            io.seriatim.tensor.kernel.portable.JavaKernels,
            io.seriatim.tensor.onednn.OneDnnKernels,
            io.seriatim.tensor.kernel.portable.PortableKernels;
}

/**
 * Tensors, kernels and arrays on an engine.
 */
// EJML's jars have no descriptors of their own; modules that are built later are named.
@SuppressWarnings({"requires-automatic", "module"}) module io.seriatim.tensor {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires transitive io.seriatim.device;
    requires transitive io.seriatim.engine;
    requires ejml.core;
    requires ejml.ddense;

    exports io.seriatim.tensor;
    exports io.seriatim.tensor.array;
    exports io.seriatim.tensor.computation;
    exports io.seriatim.tensor.computation.network;
    exports io.seriatim.tensor.kernel;
    exports io.seriatim.tensor.onednn;
    exports io.seriatim.tensor.linalg to io.seriatim.graph;
    exports io.seriatim.tensor.numerics to io.seriatim.graph;
    // Loops over memory whose sizes change in each run.
    exports io.seriatim.tensor.kernel.portable.row to io.seriatim.executor;

    uses io.seriatim.tensor.kernel.KernelProvider;

    provides io.seriatim.tensor.kernel.KernelProvider with
            io.seriatim.tensor.kernel.portable.JavaKernels,
            io.seriatim.tensor.onednn.OneDnnKernels,
            io.seriatim.tensor.kernel.portable.PortableKernels;
}

/**
 * Tensors, kernels and arrays on an engine.
 */
module io.seriatim.tensor {
    requires static com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive io.seriatim.device;
    requires transitive io.seriatim.engine;

    exports io.seriatim.tensor;
    exports io.seriatim.tensor.kernel;
    exports io.seriatim.tensor.onednn;
}

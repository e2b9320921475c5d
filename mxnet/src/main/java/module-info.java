/**
 * Reads models of Apache MXNet.
 */
module io.seriatim.mxnet {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires transitive io.seriatim.graph;

    exports io.seriatim.mxnet;

    provides io.seriatim.graph.format.ModelFormat with io.seriatim.mxnet.MxnetFormat;
    provides io.seriatim.graph.op.Operations.Provider with io.seriatim.mxnet.operation.DetectionOperations;
}

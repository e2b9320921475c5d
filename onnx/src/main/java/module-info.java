/**
 * Models in the format of ONNX, as programs.
 */
module io.seriatim.onnx {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires transitive io.seriatim.graph;

    exports io.seriatim.onnx;

    provides io.seriatim.graph.format.ModelFormat with io.seriatim.onnx.OnnxFormat;
    provides io.seriatim.graph.op.Operations.BuiltIn with io.seriatim.onnx.schema.OnnxOperations;
}

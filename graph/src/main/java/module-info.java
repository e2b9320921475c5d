/**
 * Programs of operations: their description, backward, optimizers and files.
 */
// protobuf-java has no descriptor of its own; modules that are built later are named.
@SuppressWarnings({"requires-automatic", "module"}) module io.seriatim.graph {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires transitive io.seriatim.tensor;
    requires com.google.protobuf;

    exports io.seriatim.graph;
    // Writers of other formats check what they write.
    exports io.seriatim.graph.append to io.seriatim.onnx;
    exports io.seriatim.graph.dialect to io.seriatim.onnx;
    exports io.seriatim.graph.format;
    exports io.seriatim.graph.interpret;
    // Symbols of MXNet and encodings of tables are JSON.
    exports io.seriatim.graph.json to io.seriatim.mxnet, io.seriatim.train;
    // The executor runs the same programs as the interpreter.
    exports io.seriatim.graph.lod to io.seriatim.executor;
    exports io.seriatim.graph.quantization to io.seriatim.executor, io.seriatim.train;
    exports io.seriatim.graph.op;
    exports io.seriatim.graph.optimizer;
    exports io.seriatim.graph.parallel;
    exports io.seriatim.graph.program;
    exports io.seriatim.graph.unroll to io.seriatim.executor;
    // Text from files, made fit for a terminal.
    // Modules that read models of other systems.
    exports io.seriatim.graph.translate to io.seriatim.onnx, io.seriatim.mxnet;
    exports io.seriatim.graph.util
            to io.seriatim.executor, io.seriatim.onnx, io.seriatim.mxnet, io.seriatim.train, io.seriatim.cli;

    provides io.seriatim.graph.format.ModelFormat with io.seriatim.graph.format.pir.PirFormat;
    provides io.seriatim.graph.program.OperationTypes with io.seriatim.graph.op.SchemaTypes;
    provides io.seriatim.graph.op.Differentiation with io.seriatim.graph.differentiate.ReverseSteps;
    provides io.seriatim.graph.op.Operations.BuiltIn with io.seriatim.graph.ops.BuiltInOperations;

    uses io.seriatim.graph.format.ModelFormat;
    uses io.seriatim.graph.program.OperationTypes;
    uses io.seriatim.graph.op.Differentiation;
    uses io.seriatim.graph.op.Operations.BuiltIn;
    uses io.seriatim.graph.op.Operations.Provider;
}

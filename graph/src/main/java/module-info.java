/**
 * Programs of operations: their description, backward, optimizers and files.
 */
@SuppressWarnings("requires-automatic") // protobuf-java has no descriptor of its own.
module io.seriatim.graph {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive io.seriatim.tensor;
    requires com.google.protobuf;

    exports io.seriatim.graph;
    exports io.seriatim.graph.format;
    exports io.seriatim.graph.op;

    provides io.seriatim.graph.OperationTypes with io.seriatim.graph.op.SchemaTypes;
    provides io.seriatim.graph.op.Operations.BuiltIn with io.seriatim.graph.op.BuiltInOperations;

    uses io.seriatim.graph.OperationTypes;
    uses io.seriatim.graph.op.Operations.BuiltIn;
    uses io.seriatim.graph.op.Operations.Provider;
}

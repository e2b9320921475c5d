package io.seriatim.onnx.node;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxTensor;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** What a node asks of the model that it is part of. */
public interface Graphs {
    /**
     * Translates a graph that a node runs.
     *
     * @param graph
     *            the graph, which sees the values of the graphs around it
     * @param block
     *            where its operations are appended
     * @param operands
     *            its inputs, in order
     * @return its outputs, in order
     */
    List<Ref> translate(OnnxGraph graph, BlockBuilder block, List<Ref> operands);

    /**
     * Translates a graph that a node runs only if a condition is true. A graph that does not allow the types of its
     * values is a failure of the runs that come there.
     *
     * @param graph
     *            a graph without inputs
     * @param block
     *            where its operations are appended
     * @param failures
     *            gets the failure; a second one is thrown
     * @return its outputs, in order; null if it always fails
     */
    default @Nullable List<Ref> branch(OnnxGraph graph, BlockBuilder block, List<IllegalArgumentException> failures) {
        return translate(graph, block, List.of());
    }

    /** The lists and optional values of the model. */
    Lists lists();

    /** The number of dimensions that the file declares of a value of the graph; −1 if it does not. */
    default int declaredRank(String value) {
        return -1;
    }

    /** The number of nodes of the graph that depend on a value, if they are not more than the given number. */
    default OptionalInt dependents(String value, int most) {
        return OptionalInt.empty();
    }

    /** The elements of a tensor of the file. */
    Tensor read(OnnxTensor tensor);
}

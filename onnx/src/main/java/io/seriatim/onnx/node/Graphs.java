package io.seriatim.onnx.node;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxTensor;
import io.seriatim.tensor.Tensor;
import java.util.List;

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

    /** The lists and optional values of the model. */
    Lists lists();

    /** The number of dimensions that the file declares of a value of the graph; −1 if it does not. */
    default int declaredRank(String value) {
        return -1;
    }

    /** The elements of a tensor of the file. */
    Tensor read(OnnxTensor tensor);
}

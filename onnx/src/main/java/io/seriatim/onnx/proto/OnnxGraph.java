package io.seriatim.onnx.proto;

import java.util.List;

/**
 * A graph.
 *
 * @param name
 *            its name
 * @param nodes
 *            in an order in which each stands after those whose results it reads
 * @param initializers
 *            the tensors that are part of the model
 * @param sparse
 *            those of which most elements are 0; their names are those of their values
 * @param inputs
 *            what is fed, and in old files the initializers too
 * @param outputs
 *            what it computes
 * @param values
 *            what it declares of other values
 */
public record OnnxGraph(String name, List<OnnxNode> nodes, List<OnnxTensor> initializers,
        List<OnnxSparseTensor> sparse, List<OnnxValue> inputs, List<OnnxValue> outputs,
        List<OnnxValue> values) {
}

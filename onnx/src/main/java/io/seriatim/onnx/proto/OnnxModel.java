package io.seriatim.onnx.proto;

import java.util.List;
import java.util.Map;

/**
 * A model.
 *
 * @param irVersion
 *            the version of the format
 * @param graph
 *            what it computes
 * @param opsets
 *            the version of each domain of operators; that of ONNX's own is empty
 * @param functions
 *            operators that the model defines
 */
public record OnnxModel(long irVersion, OnnxGraph graph, Map<String, Long> opsets, List<OnnxFunction> functions) {
}

package io.seriatim.onnx.emit;

import java.util.List;
import java.util.Map;

/**
 * A node that is being written.
 *
 * @param type
 *            the operator
 * @param inputs
 *            names of values; empty where an optional one is left out
 * @param outputs
 *            names of values; empty where a result is not wanted
 * @param attributes
 *            Long, Float, String, long[], float[], Tensor or OutGraph
 */
record OutNode(String type, List<String> inputs, List<String> outputs, Map<String, Object> attributes) {
}

package io.seriatim.onnx.proto;

import java.util.List;
import java.util.Map;

/**
 * A node of a graph.
 *
 * @param name
 *            its name, often empty
 * @param domain
 *            empty for ONNX's own operators
 * @param type
 *            the operator
 * @param inputs
 *            names of values; empty where an optional one is left out
 * @param outputs
 *            names of values; empty where a result is not wanted
 * @param attributes
 *            by name
 */
public record OnnxNode(String name, String domain, String type, List<String> inputs, List<String> outputs,
        Map<String, OnnxAttribute> attributes) {
    /** The operator with its domain, for messages. */
    public String operator() {
        return domain.isEmpty() ? type : domain + "." + type;
    }
}

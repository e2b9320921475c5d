package io.seriatim.onnx.proto;

import java.util.List;
import java.util.Map;

/**
 * An operator that the file defines by nodes.
 *
 * @param name
 *            the operator
 * @param domain
 *            its domain
 * @param inputs
 *            names of the operands
 * @param outputs
 *            names of the results
 * @param attributes
 *            attributes without default
 * @param defaults
 *            attributes with default
 * @param nodes
 *            what it computes
 * @param opsets
 *            the versions of the domains that its nodes use
 */
public record OnnxFunction(String name, String domain, List<String> inputs, List<String> outputs,
        List<String> attributes, Map<String, OnnxAttribute> defaults, List<OnnxNode> nodes,
        Map<String, Long> opsets) {
}

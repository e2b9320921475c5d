package io.seriatim.onnx.read;

import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxModel;
import io.seriatim.onnx.proto.OnnxNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Refuses models with operators that are not known.
 *
 * @param functions
 *            the names of the model's functions, after their domains
 */
record UnknownOperators(Set<String> functions) {
    private static final String MICROSOFT = "com.microsoft.";
    /** Operators on integer levels, or on packed weights. */
    private static final Pattern QUANTIZED = Pattern.compile("^Q[A-Z]|^DynamicQuantize|Quant|NBits|Bnb4|Integer");

    /** Names all operators that have no translator, with their counts. */
    void refuse(OnnxModel model) {
        Map<String, Integer> unknown = new TreeMap<>();
        countUnknown(model.graph().nodes(), unknown);
        model.functions().forEach(function -> countUnknown(function.nodes(), unknown));
        if (!unknown.isEmpty()) {
            List<String> named = new ArrayList<>();
            unknown.forEach((operator, count) -> named.add(operator + " (" + count + ")"));
            throw new IllegalArgumentException("operators that are not known: " + String.join(", ", named)
                    + advice(unknown.keySet()));
        }
    }

    /** What to do about operators that only ONNX Runtime has. */
    private static String advice(Set<String> unknown) {
        boolean quantized = false;
        boolean fused = false;
        for (String operator : unknown) {
            boolean own = operator.startsWith(MICROSOFT);
            boolean levels = own && QUANTIZED.matcher(operator.substring(MICROSOFT.length())).find();
            quantized |= levels;
            fused |= own && !levels;
        }
        return (quantized
                ? "; the model is quantised with operators of ONNX Runtime: quantise it with QuantizeLinear and "
                        + "DequantizeLinear (QuantFormat.QDQ), or take the one in float32"
                : "") + (fused ? "; the model is optimised for ONNX Runtime: take the one that is not" : "");
    }

    private void countUnknown(List<OnnxNode> nodes, Map<String, Integer> unknown) {
        for (OnnxNode node : nodes) {
            if (Operators.all().find(node.domain(), node.type()) == null
                    && !functions.contains(node.domain() + ":" + node.type())) {
                unknown.merge(node.operator(), 1, Integer::sum);
            }
            for (OnnxAttribute attribute : node.attributes().values()) {
                if (attribute instanceof OnnxAttribute.OfGraph(OnnxGraph graph)) {
                    countUnknown(graph.nodes(), unknown);
                }
            }
        }
    }
}

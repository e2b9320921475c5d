package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.read.SymbolGraph;
import io.seriatim.mxnet.read.SymbolNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The operators of a symbol that have no translator, and what can be done about them. */
final class RefusedOperators {
    private static final int NAMED = 3;
    private static final Set<String> RANDOM = Set.of("_shuffle", "_npi_shuffle", "_npi_uniform", "_npi_uniform_n",
            "_npi_normal", "_npi_normal_n", "_npi_random_randint", "_npi_bernoulli", "_npi_choice", "_npi_gamma",
            "_npi_exponential", "_npi_gumbel", "_npi_logistic", "_npi_multinomial", "_npi_rayleigh", "_npi_weibull");

    private RefusedOperators() {
    }

    /**
     * Requires that all operators of a symbol are known.
     *
     * @throws IllegalArgumentException
     *             if some are not; the message names them, their nodes and what to do
     */
    static void requireNone(SymbolGraph graph) {
        Map<String, List<SymbolNode>> unknown = new TreeMap<>();
        for (SymbolNode node : graph.nodes()) {
            if (!node.isVariable() && Translators.find(node.operator()) == null) {
                unknown.computeIfAbsent(node.operator(), _ -> new ArrayList<>()).add(node);
            }
        }
        if (unknown.isEmpty()) {
            return;
        }
        String counted = unknown.entrySet().stream().map(each -> each.getKey() + nodes(each.getValue()))
                .collect(Collectors.joining(", "));
        String advice = unknown.keySet().stream().map(RefusedOperators::advice).distinct().sorted()
                .collect(Collectors.joining("; "));
        throw new IllegalArgumentException(
                graph.source() + ": operators of MXNet that are not known here: " + counted + ": " + advice);
    }

    private static String nodes(List<SymbolNode> nodes) {
        String names = nodes.stream().limit(NAMED).map(node -> "'" + node.name() + "'")
                .collect(Collectors.joining(", "));
        return " (" + nodes.size() + (nodes.size() == 1 ? " node, " : " nodes, ") + names
                + (nodes.size() > NAMED ? ", …)" : ")");
    }

    private static String advice(String operator) {
        if (operator.equals("Custom") || operator.equals("_CustomFunction")) {
            return "custom operators are Python code, which the file does not hold; write them with MXNet's operators";
        }
        if (operator.equals("_foreach") || operator.equals("_while_loop") || operator.equals("_cond")) {
            return "control flow is not read; unroll loops and export each branch as a model";
        }
        if (operator.contains("quantize") || operator.startsWith("_sg_")) {
            return "quantized models and fused subgraphs are not read; export the model from before, in float32";
        }
        if (RANDOM.contains(operator) || operator.startsWith("_random_") || operator.startsWith("_sample_")) {
            return "random numbers are not drawn; feed them as inputs";
        }
        return "write them with other operators, or end the model before them with"
                + " sym.get_internals()['NODE_output'] and compute the rest elsewhere";
    }
}

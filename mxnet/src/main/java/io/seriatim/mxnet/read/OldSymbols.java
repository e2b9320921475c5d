package io.seriatim.mxnet.read;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Brings symbols of old versions into today's form. */
final class OldSymbols {
    /** Since this version, files have the states of operators as variables. */
    private static final int WITH_STATES = 900;
    /** Since this version, argmax without axis has no attribute. */
    private static final int WITHOUT_AXIS = 905;
    private static final List<String> STATES = List.of("moving_mean", "moving_var");

    private OldSymbols() {
    }

    static SymbolGraph upgraded(SymbolGraph graph) {
        if (graph.version() >= WITHOUT_AXIS) {
            return graph;
        }
        List<SymbolNode> nodes = new ArrayList<>(graph.nodes());
        for (SymbolNode node : graph.nodes()) {
            nodes.set(node.index(), node.operator().equals("argmax") || node.operator().equals("argmin")
                    ? withoutAxis(node)
                    : node);
            if (graph.version() < WITH_STATES && node.operator().equals("BatchNorm")) {
                nodes.set(node.index(), withStates(node, nodes));
            }
        }
        return new SymbolGraph(graph.source(), graph.version(), nodes, graph.heads());
    }

    private static SymbolNode withoutAxis(SymbolNode node) {
        Map<String, String> attributes = new LinkedHashMap<>(node.attributes());
        attributes.remove("axis", "-1");
        return new SymbolNode(node.index(), node.operator(), node.name(), attributes, node.inputs());
    }

    /** The variables of states have no place in the file; they follow all other nodes. */
    private static SymbolNode withStates(SymbolNode node, List<SymbolNode> nodes) {
        List<SymbolEntry> inputs = new ArrayList<>(node.inputs());
        for (int i = inputs.size() - 3; i >= 0 && i < STATES.size(); i++) {
            inputs.add(new SymbolEntry(nodes.size(), 0));
            nodes.add(new SymbolNode(nodes.size(), SymbolNode.VARIABLE, node.name() + "_" + STATES.get(i), Map.of(),
                    List.of()));
        }
        return new SymbolNode(node.index(), node.operator(), node.name(), node.attributes(), inputs);
    }
}

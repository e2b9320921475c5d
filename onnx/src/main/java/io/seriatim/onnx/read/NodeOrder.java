package io.seriatim.onnx.read;

import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Puts nodes in an order in which each stands after those whose results it reads. The specification asks for such an
 * order, but some tools append nodes at the end; ONNX Runtime sorts too. Nodes keep the order of the file as far as it
 * allows.
 */
final class NodeOrder {
    private NodeOrder() {
    }

    /**
     * Returns the nodes in an order of their data.
     *
     * @throws IllegalArgumentException
     *             if they read each other's results in a cycle
     */
    static List<OnnxNode> of(List<OnnxNode> nodes) {
        Map<String, Integer> producers = new HashMap<>();
        for (int i = 0; i < nodes.size(); i++) {
            for (String output : nodes.get(i).outputs()) {
                if (!output.isEmpty()) {
                    producers.putIfAbsent(output, i);
                }
            }
        }
        List<Set<Integer>> before = new ArrayList<>(nodes.size());
        boolean sorted = true;
        for (int i = 0; i < nodes.size(); i++) {
            Set<Integer> read = new LinkedHashSet<>();
            for (String name : reads(nodes.get(i))) {
                Integer producer = producers.get(name);
                if (producer != null) {
                    read.add(producer);
                    sorted &= producer < i;
                }
            }
            before.add(read);
        }
        return sorted ? nodes : sorted(nodes, before);
    }

    private static List<OnnxNode> sorted(List<OnnxNode> nodes, List<Set<Integer>> before) {
        int count = nodes.size();
        List<List<Integer>> after = new ArrayList<>(count);
        int[] waiting = new int[count];
        PriorityQueue<Integer> ready = new PriorityQueue<>();
        for (int i = 0; i < count; i++) {
            after.add(new ArrayList<>());
        }
        for (int i = 0; i < count; i++) {
            int node = i;
            before.get(i).forEach(producer -> after.get(producer).add(node));
            waiting[i] = before.get(i).size();
            if (waiting[i] == 0) {
                ready.add(i);
            }
        }
        List<OnnxNode> order = new ArrayList<>(count);
        while (!ready.isEmpty()) {
            int next = ready.remove();
            order.add(nodes.get(next));
            for (int other : after.get(next)) {
                if (--waiting[other] == 0) {
                    ready.add(other);
                }
            }
        }
        if (order.size() < count) {
            throw cycle(nodes, before, waiting);
        }
        return order;
    }

    /** Each node that is left waits for another one that is left, so a walk along these comes to a node again. */
    private static IllegalArgumentException cycle(List<OnnxNode> nodes, List<Set<Integer>> before, int[] waiting) {
        int current = 0;
        while (waiting[current] == 0) {
            current++;
        }
        Set<Integer> seen = new LinkedHashSet<>();
        while (seen.add(current)) {
            current = before.get(current).stream().filter(producer -> waiting[producer] > 0).findFirst().orElseThrow();
        }
        List<Integer> walk = new ArrayList<>(seen);
        List<Integer> cycle = walk.subList(walk.indexOf(current), walk.size());
        String names = cycle.stream().limit(10).map(nodes::get)
                .map(node -> node.operator() + " '" + node.name() + "' (of " + node.outputs() + ")")
                .collect(Collectors.joining(", "));
        return new IllegalArgumentException(cycle.size() == 1
                ? "A node reads its own result: " + names
                : cycle.size() + " nodes form a cycle, in which each reads a result of the "
                        + "next and the last one of the first: " + names + (cycle.size() > 10 ? ", …" : ""));
    }

    /** Returns those of some nodes in order on which wanted values depend. */
    static List<OnnxNode> needed(List<OnnxNode> nodes, Collection<String> wanted) {
        Set<String> values = new HashSet<>(wanted);
        values.remove("");
        List<OnnxNode> needed = new ArrayList<>();
        for (OnnxNode node : nodes.reversed()) {
            if (node.outputs().stream().anyMatch(values::contains)) {
                needed.add(node);
                values.addAll(reads(node));
            }
        }
        return needed.size() == nodes.size() ? nodes : List.copyOf(needed.reversed());
    }

    /** Returns how many of some nodes in order depend on a value, if they are not more than the given number. */
    static OptionalInt dependents(List<OnnxNode> nodes, String value, int most) {
        Set<String> values = new HashSet<>(Set.of(value));
        int count = 0;
        for (OnnxNode node : nodes) {
            if (reads(node).stream().anyMatch(values::contains)) {
                if (++count > most) {
                    return OptionalInt.empty();
                }
                values.addAll(node.outputs());
                values.remove("");
            }
        }
        return OptionalInt.of(count);
    }

    /** Returns the values that a node reads, also in its graphs if they come from outside of these. */
    static Set<String> reads(OnnxNode node) {
        Set<String> names = new LinkedHashSet<>(node.inputs());
        for (OnnxAttribute attribute : node.attributes().values()) {
            switch (attribute) {
                case OnnxAttribute.OfGraph(OnnxGraph graph) -> names.addAll(captured(graph));
                case OnnxAttribute.Graphs(List<OnnxGraph> graphs) ->
                    graphs.forEach(graph -> names.addAll(captured(graph)));
                default -> {
                    // Has no graph.
                }
            }
        }
        names.remove("");
        return names;
    }

    private static Set<String> captured(OnnxGraph graph) {
        Set<String> names = new HashSet<>();
        graph.nodes().forEach(node -> names.addAll(reads(node)));
        graph.outputs().forEach(output -> names.add(output.name()));
        graph.nodes().forEach(node -> node.outputs().forEach(names::remove));
        graph.inputs().forEach(input -> names.remove(input.name()));
        graph.initializers().forEach(tensor -> names.remove(tensor.name()));
        return names;
    }
}

package io.seriatim.onnx.read;

import io.seriatim.onnx.proto.OnnxNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The order in which nodes are translated where types of values depend on conditions. A node that reads such a value is
 * translated once for each truth of the condition. Nodes that depend on it follow in the same part, so that a run
 * decides once: until their results have one number of dimensions whatever their operands are. Other nodes that stand
 * between them come first.
 *
 * <p>
 * A part is formed of the next {@link #WINDOW} parts, so that the work is linear in the number of nodes.
 */
final class Alternatives {
    private static final int WINDOW = 256;
    /** Operators whose results have a number of dimensions that does not depend on that of the first operand. */
    private static final Set<String> FIXED = Set.of("Flatten", "Reshape", "LSTM", "GRU", "RNN", "Conv", "Size",
            "NonZero");

    private final Deque<Part> rest = new ArrayDeque<>();
    private final Map<String, Integer> readers = new HashMap<>();
    /** The name of the condition on which the type of a value depends; null for all other values. */
    private final Function<String, @Nullable String> conditions;
    private final boolean whole;

    /**
     * Nodes that are translated together.
     *
     * @param nodes
     *            in order
     * @param condition
     *            the condition on which types of their operands depend; null if none does
     * @param reads
     *            their operands
     * @param results
     *            what others read of their results
     */
    record Part(List<OnnxNode> nodes, @Nullable String condition, Set<String> reads, List<String> results) {
    }

    /**
     * Creates an order.
     *
     * @param nodes
     *            in an order of their data
     * @param wanted
     *            the values that are read afterwards
     * @param conditions
     *            gives the name of the condition on which the type of a value that is known already depends, or null
     * @param whole
     *            whether nodes follow in the same part
     */
    Alternatives(List<OnnxNode> nodes, List<String> wanted, Function<String, @Nullable String> conditions,
            boolean whole) {
        this.conditions = conditions;
        this.whole = whole;
        wanted.forEach(name -> readers.merge(name, 1, Integer::sum));
        for (OnnxNode node : nodes) {
            Set<String> reads = NodeOrder.reads(node);
            reads.forEach(name -> readers.merge(name, 1, Integer::sum));
            rest.add(new Part(List.of(node), null, reads, results(node)));
        }
    }

    private static List<String> results(OnnxNode node) {
        return node.outputs().stream().filter(name -> !name.isEmpty()).toList();
    }

    /** The part that is translated next; null at the end. */
    @Nullable
    Part next() {
        for (Part part = rest.poll(); part != null; part = rest.poll()) {
            String condition =
                    part.reads.stream().map(conditions).filter(each -> each != null).findFirst().orElse(null);
            if (condition == null || part.condition != null) {
                return condition == null ? part : new Part(part.nodes, condition, part.reads, part.results);
            }
            rest.addFirst(part);
            form(condition);
        }
        return null;
    }

    /** Forms a part of nodes that depend on a condition, and puts those before it that do not. */
    private void form(String condition) {
        List<Part> before = new ArrayList<>();
        List<Part> group = new ArrayList<>();
        List<Part> after = new ArrayList<>();
        Set<String> inside = new HashSet<>();
        Set<String> later = new HashSet<>();
        for (int i = 0; i < WINDOW && !rest.isEmpty(); i++) {
            Part part = rest.remove();
            boolean depends = part.reads.stream()
                    .anyMatch(name -> inside.contains(name) || condition.equals(conditions.apply(name)));
            if (part.reads.stream().anyMatch(later::contains) || (depends && part.nodes.size() > 1)
                    || (depends && !whole && !group.isEmpty())) {
                after.add(part);
                later.addAll(part.results);
            } else if (depends) {
                group.add(part);
                OnnxNode node = part.nodes.getFirst();
                (FIXED.contains(node.type()) ? later : inside).addAll(part.results);
            } else {
                before.add(part);
            }
        }
        after.reversed().forEach(rest::addFirst);
        rest.addFirst(joined(group, condition));
        before.reversed().forEach(rest::addFirst);
    }

    private Part joined(List<Part> group, String condition) {
        List<OnnxNode> nodes = new ArrayList<>();
        Set<String> reads = new LinkedHashSet<>();
        List<String> results = new ArrayList<>();
        Map<String, Integer> own = new HashMap<>();
        for (Part part : group) {
            nodes.addAll(part.nodes);
            reads.addAll(part.reads);
            part.reads.forEach(name -> own.merge(name, 1, Integer::sum));
            results.addAll(part.results);
        }
        reads.removeAll(results);
        results.removeIf(name -> own.getOrDefault(name, 0) >= readers.getOrDefault(name, 0));
        return new Part(nodes, condition, reads, results);
    }
}

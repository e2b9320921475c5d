package io.seriatim.onnx.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NodeOrderTest {
    private static OnnxNode node(String name, List<String> inputs, String... outputs) {
        return new OnnxNode(name, "", "Sum", inputs, List.of(outputs), Map.of());
    }

    /** A node with a graph that reads names from outside, and a value of its own. */
    private static OnnxNode branch(String name, String reads, String output) {
        OnnxGraph graph = new OnnxGraph("g", List.of(node("inner", List.of(reads, ""), "own"),
                node("last", List.of("own"), "result")), List.of(), List.of(), List.of(), List.of(), List.of());
        return new OnnxNode(name, "", "If", List.of("condition"), List.of(output),
                Map.of("then_branch", new OnnxAttribute.OfGraph(graph)));
    }

    private static List<String> names(List<OnnxNode> nodes) {
        return nodes.stream().map(OnnxNode::name).toList();
    }

    @Test
    void sortedNodesStayAsTheyAre() {
        List<OnnxNode> nodes = List.of(node("b", List.of("x"), "y"), node("a", List.of("y", ""), "z"));
        assertSame(nodes, NodeOrder.of(nodes));
    }

    @Test
    void nodesStandAfterThoseThatTheyRead() {
        assertEquals(List.of("cast", "first", "second"), names(NodeOrder.of(List.of(
                node("second", List.of("y", "h"), "z"), node("cast", List.of("x"), "h"),
                node("first", List.of("h"), "y")))));
    }

    @Test
    void graphsOfNodesReadToo() {
        assertEquals(List.of("cast", "if"),
                names(NodeOrder.of(List.of(branch("if", "h", "y"), node("cast", List.of("x"), "h")))));
        List<OnnxNode> own = List.of(branch("if", "x", "y"), node("later", List.of("x"), "own"));
        assertSame(own, NodeOrder.of(own), "a value of the graph is not one of the same name outside");
    }

    @Test
    void nodesOfWhichNothingDependsAreNotNeeded() {
        List<OnnxNode> nodes = List.of(node("a", List.of("x"), "b"), node("unread", List.of("b"), "c"),
                node("alone", List.of("c"), "d"), node("two", List.of("x"), "", "e"), branch("if", "e", "y"),
                node("silent", List.of("x"), ""));
        assertEquals(List.of("two", "if"), names(NodeOrder.needed(nodes, List.of("y"))));
        assertEquals(List.of("a", "unread", "alone"), names(NodeOrder.needed(nodes, List.of("d", ""))));
        List<OnnxNode> all = nodes.subList(0, 3);
        assertSame(all, NodeOrder.needed(all, List.of("d")));
        assertEquals(List.of(), NodeOrder.needed(nodes, List.of("x")));
    }

    @Test
    void cyclesAreNamed() {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> NodeOrder.of(List.of(
                node("out", List.of("b"), "z"), node("one", List.of("x", "c"), "a"), node("two", List.of("a"), "b"),
                branch("three", "b", "c")))).getMessage());
        assertTrue(message.startsWith("3 nodes form a cycle"), message);
        for (String part : List.of("Sum 'one' (of [a])", "Sum 'two'", "If 'three'")) {
            assertTrue(message.contains(part), message);
        }
        assertThrows(IllegalArgumentException.class, () -> NodeOrder.of(List.of(node("self", List.of("y"), "y"))));
    }

    @Test
    void shuffledGraphsAreSorted() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            List<OnnxNode> nodes = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                List<String> inputs = new ArrayList<>(List.of("x"));
                for (int k = random.nextInt(4); k > 0 && i > 0; k--) {
                    inputs.add("v" + random.nextInt(i));
                }
                nodes.add(random.nextInt(5) == 0
                        ? branch("n" + i, inputs.getLast(), "v" + i)
                        : node("n" + i, inputs, "v" + i));
            }
            Collections.shuffle(nodes, random);
            List<OnnxNode> order = NodeOrder.of(nodes);
            assertEquals(new HashSet<>(nodes), new HashSet<>(order));
            Set<String> known = new HashSet<>(Set.of("x", "condition"));
            for (OnnxNode node : order) {
                List<String> reads = new ArrayList<>(node.inputs());
                if (node.attributes().get("then_branch") instanceof OnnxAttribute.OfGraph(OnnxGraph graph)) {
                    reads.add(graph.nodes().getFirst().inputs().getFirst());
                }
                assertTrue(known.containsAll(reads), "seed " + seed + ", " + node);
                known.addAll(node.outputs());
            }
        }
    }
}

package io.seriatim.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Derives the edges between the operations of a list from the variables that they read and mutate, by the rule of
 * {@link Tracker}: an operation waits for the last mutation before it of each of its variables, and a mutation for all
 * reads since then. Confined to the thread that prepares the graph.
 */
final class GraphEdges {
    /** If an operation has more predecessors than this, no attempt is made to find those that are implied by others. */
    private static final int SEARCHED = 64;

    private final Rules rules;
    private final GraphNode[] nodes;
    private final int[][] predecessors;
    /** For each variable, the index of the last operation that mutates it, or -1, and those that have read it since. */
    private final int[] lastMutation;
    private final List<List<Integer>> readers = new ArrayList<>();
    /** For each operation, the index behind the last one that found it among its predecessors. */
    private final int[] marks;
    private int[] found = new int[8];
    private int count;

    private GraphEdges(Operation whole, GraphNode[] nodes) {
        rules = whole.core.rules;
        this.nodes = nodes;
        predecessors = new int[nodes.length][];
        lastMutation = new int[whole.count];
        Arrays.fill(lastMutation, -1);
        for (int i = 0; i < whole.count; i++) {
            readers.add(new ArrayList<>());
        }
        marks = new int[nodes.length];
    }

    /**
     * Connects nodes.
     *
     * @param whole
     *            the operation with the variables of all of them
     * @param nodes
     *            the nodes in the order of the serial program
     */
    static void connect(Operation whole, GraphNode[] nodes) {
        GraphEdges edges = new GraphEdges(whole, nodes);
        int[] successors = new int[nodes.length];
        for (int i = 0; i < nodes.length; i++) {
            edges.find(i);
            nodes[i].expect(edges.predecessors[i].length);
            for (int p : edges.predecessors[i]) {
                successors[p]++;
            }
        }
        for (int i = 0; i < nodes.length; i++) {
            if (successors[i] > 0) {
                nodes[i].successors = new GraphNode[successors[i]];
            }
        }
        Arrays.fill(successors, 0);
        for (int i = 0; i < nodes.length; i++) {
            for (int p : edges.predecessors[i]) {
                nodes[p].successors[successors[p]++] = nodes[i];
            }
        }
    }

    private void find(int index) {
        GraphNode node = nodes[index];
        Operation op = node.op;
        count = 0;
        for (int i = 0; i < op.count; i++) {
            int place = node.places[i];
            List<Integer> since = readers.get(place);
            if (i < op.reads) {
                add(index, lastMutation[place]);
                since.add(index);
            } else {
                if (since.isEmpty()) {
                    add(index, lastMutation[place]);
                }
                for (int reader : since) {
                    add(index, reader);
                }
                since.clear();
                lastMutation[place] = index;
            }
        }
        predecessors[index] =
                rules.predecessors(count <= SEARCHED ? necessary(index) : Arrays.copyOf(found, count));
    }

    private void add(int index, int predecessor) {
        if (predecessor < 0 || marks[predecessor] == index + 1) {
            return;
        }
        marks[predecessor] = index + 1;
        if (count == found.length) {
            found = Arrays.copyOf(found, 2 * count);
        }
        found[count++] = predecessor;
    }

    /** Returns the predecessors that are not also predecessors of another one. */
    private int[] necessary(int index) {
        for (int i = 0; i < count; i++) {
            for (int implied : predecessors[found[i]]) {
                if (marks[implied] == index + 1) {
                    marks[implied] = 0;
                }
            }
        }
        return Arrays.stream(found, 0, count).filter(p -> marks[p] == index + 1).toArray();
    }
}

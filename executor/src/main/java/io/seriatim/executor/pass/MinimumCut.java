package io.seriatim.executor.pass;

import java.util.Arrays;

/**
 * A minimum cut: divides nodes into those on the side of {@link #SOURCE} and those on the side of {@link #SINK}, such
 * that the edges from the first to the second have the least capacity. Computed as a maximum flow along shortest paths
 * (Dinic's algorithm). Of several minimum cuts, it is the one with the fewest nodes on the side of the source.
 */
final class MinimumCut {
    static final int SOURCE = 0;
    static final int SINK = 1;
    /** The capacity of an edge that is never cut. */
    static final long NEVER = Long.MAX_VALUE / 4;

    private static final int NONE = -1;

    private int nodes = 2;
    private int edges;
    /** Edge e and its reverse, e ^ 1, are neighbours. */
    private int[] to = new int[64];
    private int[] next = new int[64];
    private long[] left = new long[64];
    private int[] first = new int[64];
    private int[] level = {};

    MinimumCut() {
        Arrays.fill(first, NONE);
    }

    /** Adds a node, and returns its number. */
    int node() {
        if (nodes == first.length) {
            first = Arrays.copyOf(first, 2 * nodes);
            Arrays.fill(first, nodes, first.length, NONE);
        }
        return nodes++;
    }

    /** Adds an edge, which costs its capacity if the first node is on the source's side and the second is not. */
    void edge(int from, int target, long capacity) {
        if (from != target && from != SINK && target != SOURCE) {
            half(from, target, capacity);
            half(target, from, 0);
        }
    }

    private void half(int from, int target, long capacity) {
        if (edges == to.length) {
            to = Arrays.copyOf(to, 2 * edges);
            next = Arrays.copyOf(next, 2 * edges);
            left = Arrays.copyOf(left, 2 * edges);
        }
        to[edges] = target;
        left[edges] = capacity;
        next[edges] = first[from];
        first[from] = edges++;
    }

    /** Requires that two nodes are on the same side. */
    void same(int a, int b) {
        edge(a, b, NEVER);
        edge(b, a, NEVER);
    }

    /** Returns for each node whether it is on the side of the source. */
    boolean[] sides() {
        int[] queue = new int[nodes];
        int[] path = new int[nodes];
        while (reach(queue)) {
            int[] at = Arrays.copyOf(first, nodes);
            while (augment(at, path)) {
                // Each call adds flow along another shortest path.
            }
        }
        boolean[] sides = new boolean[nodes];
        for (int i = 0; i < nodes; i++) {
            sides[i] = level[i] != NONE;
        }
        return sides;
    }

    /** Finds the distances from the source along edges with capacity left, and returns whether the sink is reached. */
    private boolean reach(int[] queue) {
        level = new int[nodes];
        Arrays.fill(level, NONE);
        level[SOURCE] = 0;
        queue[0] = SOURCE;
        for (int head = 0, tail = 1; head < tail; head++) {
            int node = queue[head];
            for (int edge = first[node]; edge != NONE; edge = next[edge]) {
                if (left[edge] > 0 && level[to[edge]] == NONE) {
                    level[to[edge]] = level[node] + 1;
                    queue[tail++] = to[edge];
                }
            }
        }
        return level[SINK] != NONE;
    }

    /** Adds flow along one shortest path; {@code at} holds the edge at which each node continues. */
    private boolean augment(int[] at, int[] path) {
        int depth = 0;
        int node = SOURCE;
        while (node != SINK) {
            int edge = at[node];
            if (edge != NONE && left[edge] > 0 && level[to[edge]] == level[node] + 1) {
                path[depth++] = edge;
                node = to[edge];
            } else if (edge != NONE) {
                at[node] = next[edge];
            } else if (depth == 0) {
                return false;
            } else {
                node = to[path[--depth] ^ 1];
                at[node] = next[at[node]];
            }
        }
        long flow = NEVER;
        for (int i = 0; i < depth; i++) {
            flow = Math.min(flow, left[path[i]]);
        }
        for (int i = 0; i < depth; i++) {
            left[path[i]] -= flow;
            left[path[i] ^ 1] += flow;
        }
        return true;
    }
}

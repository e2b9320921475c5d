package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MinimumCutTest {
    private static final int NODES = 8;

    private record Edge(int from, int to, long capacity) {
    }

    private static long cost(List<Edge> edges, int sides) {
        return edges.stream().filter(edge -> (sides >> edge.from() & 1) == 1 && (sides >> edge.to() & 1) == 0)
                .mapToLong(Edge::capacity).sum();
    }

    /** Of all divisions of few nodes, none costs less, and none of the same cost has fewer nodes beside the source. */
    @Test
    void costsNoMoreThanAnyDivision() {
        for (long seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            MinimumCut cut = new MinimumCut();
            for (int i = 2; i < NODES; i++) {
                assertEquals(i, cut.node());
            }
            List<Edge> edges = new ArrayList<>();
            for (int i = 0; i < 5 + random.nextInt(25); i++) {
                Edge edge = new Edge(random.nextInt(NODES), random.nextInt(NODES),
                        random.nextInt(12) == 0 ? 1000 : random.nextInt(10));
                edges.add(edge);
                cut.edge(edge.from(), edge.to(), edge.capacity());
            }
            boolean[] sides = cut.sides();
            assertTrue(sides[MinimumCut.SOURCE], "seed " + seed);
            assertFalse(sides[MinimumCut.SINK], "seed " + seed);
            int found = 0;
            for (int i = 0; i < NODES; i++) {
                found |= sides[i] ? 1 << i : 0;
            }
            for (int other = 1; other < 1 << NODES; other += 4) {
                long cost = cost(edges, other);
                assertTrue(cost(edges, found) <= cost, "seed " + seed);
                assertTrue(cost > cost(edges, found) || (found & other) == found, "seed " + seed);
            }
        }
    }

    @Test
    void keepsNodesTogether() {
        MinimumCut cut = new MinimumCut();
        int a = cut.node();
        int b = cut.node();
        cut.same(a, b);
        cut.edge(MinimumCut.SOURCE, a, 3);
        cut.edge(b, MinimumCut.SINK, 2);
        boolean[] sides = cut.sides();
        assertTrue(sides[a] && sides[b]);
    }
}

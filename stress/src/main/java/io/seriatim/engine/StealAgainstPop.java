package io.seriatim.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A runner of a graph removes and adds nodes of its deque while another one steals them. */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Each node is removed once.")
@Outcome(expect = FORBIDDEN, desc = "A node is removed twice, or is lost.")
@State
public class StealAgainstPop {
    private static final GraphNode ONE = new GraphNode(Nodes.FIRST, new int[0]);
    private static final GraphNode TWO = new GraphNode(Nodes.SECOND, new int[0]);

    private final NodeDeque deque = new NodeDeque(2);
    private @Nullable GraphNode popped;
    private @Nullable GraphNode poppedLast;
    private @Nullable GraphNode stolen;
    private @Nullable GraphNode stolenToo;

    /** Adds the first node. */
    public StealAgainstPop() {
        deque.push(ONE);
    }

    /** Removes a node, adds the second one, and removes a node again. */
    @Actor
    public void own() {
        popped = deque.pop();
        deque.push(TWO);
        poppedLast = deque.pop();
    }

    /** Tries to steal two nodes. */
    @Actor
    public void steal() {
        stolen = deque.steal();
        stolenToo = deque.steal();
    }

    /**
     * Removes what is left, and counts.
     *
     * @param r
     *            how often each of the two nodes was removed
     */
    @Arbiter
    public void count(II_Result r) {
        GraphNode[] removed = {popped, poppedLast, stolen, stolenToo, deque.pop(), deque.pop()};
        for (GraphNode node : removed) {
            if (node == ONE) {
                r.r1++;
            } else if (node == TWO) {
                r.r2++;
            }
        }
    }
}

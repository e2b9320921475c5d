package io.seriatim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a {@link GraphRun} and the operations that wait for it. The edges never change; the count of missing
 * predecessors and the failure are those of one run, and the node itself prepares them for the next.
 */
final class GraphNode {
    private static final VarHandle MISSING;

    static {
        try {
            MISSING = MethodHandles.lookup().findVarHandle(GraphNode.class, "missing", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final GraphNode[] NONE = {};

    /** Run again and again, never pushed. */
    final Operation op;
    /** The index of each of its variables in the operation that stands for the graph. Never written. */
    final int[] places;
    /** Constant after the graph was made. */
    GraphNode[] successors = NONE;
    private int predecessors;
    /** Published by its atomic decrement: the thread that brings it to 0 makes the node ready. */
    @SuppressWarnings("UnusedVariable") // accessed through MISSING
    private int missing;
    /** The failure of its body in this run. Published by the end of the run, after which the tracker takes it. */
    @Nullable
    Failure failure;
    @SuppressWarnings("unused") // keeps the counts of two nodes on different cache lines
    private long p0, p1, p2, p3, p4, p5;

    GraphNode(Operation op, int[] places) {
        this.op = op;
        this.places = places;
    }

    /** Sets the number of predecessors; before the first run. */
    void expect(int count) {
        predecessors = count;
        missing = count;
    }

    boolean isRoot() {
        return predecessors == 0;
    }

    /** Prepares the node for the next run; called once in each run, before its successors may start. */
    void renew() {
        MISSING.setOpaque(this, predecessors);
    }

    /** Records that a predecessor has ended; returns whether it was the last one. */
    boolean arrive() {
        return predecessors == 1 || (int) MISSING.getAndAdd(this, -1) == 1;
    }
}

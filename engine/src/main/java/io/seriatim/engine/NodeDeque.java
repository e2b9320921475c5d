package io.seriatim.engine;

import io.seriatim.engine.sync.Padding;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The ready nodes of one runner of a {@link GraphRun}: the runner adds and removes nodes at one end, other runners
 * remove them at the other (Chase, Lev, Dynamic Circular Work-Stealing Deque, SPAA 2005). It never grows, because it
 * has room for all nodes of the graph.
 */
final class NodeDeque extends Padding.Before {
    private static final VarHandle TOP;
    private static final VarHandle BOTTOM;
    private static final VarHandle NODES = MethodHandles.arrayElementVarHandle(GraphNode[].class);

    static {
        try {
            TOP = MethodHandles.lookup().findVarHandle(NodeDeque.class, "top", long.class);
            BOTTOM = MethodHandles.lookup().findVarHandle(NodeDeque.class, "bottom", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The index of the oldest node; other runners raise it. Guarded by its compare-and-set. */
    @SuppressWarnings("UnusedVariable") // accessed through TOP
    private volatile long top;
    @SuppressWarnings("unused")
    private long p8, p9, p10, p11, p12, p13, p14, p15;
    /** The index behind the newest node. Written by the owner only. */
    @SuppressWarnings("UnusedVariable") // accessed through BOTTOM
    private volatile long bottom;
    private final GraphNode[] nodes;
    private final int mask;

    /**
     * Creates an empty deque.
     *
     * @param capacity
     *            the greatest number of nodes that it holds at once
     */
    NodeDeque(int capacity) {
        int size = Integer.highestOneBit(Math.max(1, capacity - 1)) * 2;
        nodes = new GraphNode[size];
        mask = size - 1;
    }

    /** Adds a node; called by the owner. */
    void push(GraphNode node) {
        long b = (long) BOTTOM.getOpaque(this);
        NODES.setOpaque(nodes, (int) b & mask, node);
        BOTTOM.setRelease(this, b + 1);
    }

    /** Removes the newest node, or returns null; called by the owner. */
    @Nullable
    GraphNode pop() {
        long b = (long) BOTTOM.getOpaque(this) - 1;
        if ((long) TOP.getOpaque(this) > b) {
            return null;
        }
        BOTTOM.setOpaque(this, b);
        VarHandle.fullFence();
        long t = (long) TOP.getOpaque(this);
        GraphNode node = null;
        if (t <= b) {
            node = (GraphNode) NODES.getOpaque(nodes, (int) b & mask);
            if (t < b) {
                return node;
            }
            if (!TOP.compareAndSet(this, t, t + 1)) {
                node = null;
            }
        }
        BOTTOM.setOpaque(this, b + 1);
        return node;
    }

    /** Removes the oldest node, or returns null if there is none or another runner was faster. */
    @Nullable
    GraphNode steal() {
        long t = (long) TOP.getAcquire(this);
        VarHandle.fullFence();
        long b = (long) BOTTOM.getAcquire(this);
        if (t >= b) {
            return null;
        }
        GraphNode node = (GraphNode) NODES.getOpaque(nodes, (int) t & mask);
        return TOP.compareAndSet(this, t, t + 1) ? node : null;
    }

    /** Returns the number of nodes; a hint, but exact for a thread that has seen all changes. */
    int size() {
        return (int) Math.max(0, (long) BOTTOM.getAcquire(this) - (long) TOP.getAcquire(this));
    }
}

package io.seriatim.graph;

import io.seriatim.graph.autodiff.ControlGradients;
import io.seriatim.graph.autodiff.GradientPruning;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.HashSet;
import java.util.Set;

/**
 * Through which variables gradients flow. A variable is marked when it is made: none flows through what depends on
 * nothing that is trained. Later writes can change that: a loop's variable starts as a constant, and the body makes it
 * depend on a parameter. Marks are therefore renewed after each write to a variable that is there already, and for the
 * body of a loop until nothing changes.
 */
final class GradientFlow {
    private final Graph graph;
    /** What the network's author has stopped, and statistics of operations: these stay stopped. */
    private final Set<String> stopped = new HashSet<>();

    GradientFlow(Graph graph) {
        this.graph = graph;
    }

    /** No later write changes this mark. */
    void stop(String name) {
        stopped.add(name);
    }

    void want(String name) {
        stopped.remove(name);
    }

    boolean isStopped(String name) {
        return stopped.contains(name);
    }

    /** Renews the marks of what an operation writes. Returns whether one has changed. */
    boolean through(Block block, OpDesc op) {
        if (!GradientPruning.carries(op) || op.inputNames().stream().noneMatch(name -> flowsThrough(block, name))) {
            return false;
        }
        boolean changed = false;
        for (String name : op.outputNames()) {
            Block owner = block.owner(name);
            VarDesc desc = owner == null ? null : owner.var(name);
            // What outlives runs is marked by whoever declares it.
            if (owner != null && desc != null && desc.stopsGradient() && !desc.isPersistable()
                    && !stopped.contains(name) && isReal(desc)) {
                owner.put(desc.stopping(false));
                changed = true;
            }
        }
        return changed;
    }

    private static boolean flowsThrough(Block block, String name) {
        VarDesc desc = block.find(name);
        return desc != null && desc.type().tensorType() != null && !desc.stopsGradient() && isReal(desc);
    }

    private static boolean isReal(VarDesc desc) {
        VarType.TensorType tensor = desc.type().tensorType();
        return tensor == null || DataTypes.find(tensor.dataType()) == null || tensor.dtype().isFloating();
    }

    /**
     * Renews the marks of all that the body of a loop writes: what one step writes the next one reads. Each round but
     * the last changes at least one mark, and no mark changes back.
     */
    void ofLoop(Block body) {
        boolean changed = true;
        while (changed) {
            changed = spread(body);
        }
    }

    private boolean spread(Block block) {
        boolean changed = false;
        for (OpDesc op : block.ops()) {
            int inner = ControlGradients.block(op);
            // The operation's own outputs are written in its block.
            changed |= inner >= 0 ? spread(graph.main().block(inner)) : through(block, op);
        }
        return changed;
    }
}

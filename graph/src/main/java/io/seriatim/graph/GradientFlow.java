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
 * Decides through which variables gradients flow. A variable gets its mark when it is made: no gradient flows through a
 * variable that depends on no parameter. Later writes can change that: a loop's variable starts as a constant, and the
 * body makes it depend on a parameter. Marks are therefore updated after each write to an existing variable, and for
 * the body of a loop until no mark changes.
 */
final class GradientFlow {
    private final Graph graph;
    /** Variables that the user has stopped, and statistics of operations. They stay stopped. */
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

    /** Updates the marks of the variables that an operation writes. Returns whether a mark has changed. */
    boolean through(Block block, OpDesc op) {
        if (!GradientPruning.carries(op) || op.inputNames().stream().noneMatch(name -> flowsThrough(block, name))) {
            return false;
        }
        boolean changed = false;
        for (String name : op.outputNames()) {
            Block owner = block.owner(name);
            VarDesc desc = owner == null ? null : owner.var(name);
            // Persistable variables are marked when they are declared.
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
        return tensor == null || DataTypes.find(tensor.dataType()) == null || tensor.dtype().isDifferentiable();
    }

    /**
     * Updates the marks of all variables that the body of a loop writes, since the next step reads them. The iteration
     * ends: each round but the last changes at least one mark, and no mark changes back.
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

package io.seriatim.graph.autodiff;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The operations whose gradients are needed. */
final class OpPath {
    private OpPath() {
    }

    /**
     * The operations between some inputs (all, if none are given) and the targets, in order; those of inner blocks go
     * into {@code paths} by block.
     */
    static List<OpDesc> find(Block block, Set<String> targets, Set<String> inputs, Set<String> stopped,
            Map<Integer, List<OpDesc>> paths) {
        boolean[] relevant = new boolean[block.ops().size()];
        Arrays.fill(relevant, true);
        if (!inputs.isEmpty()) {
            forwards(block, inputs, stopped, relevant);
        }
        backwards(block, targets, stopped, relevant, paths);
        List<OpDesc> path = new ArrayList<>();
        for (int i = 0; i < relevant.length; i++) {
            if (relevant[i]) {
                path.add(block.ops().get(i));
            }
        }
        if (!inputs.isEmpty()) {
            stopUnreached(block, path, inputs, stopped);
        }
        return path;
    }

    private static void forwards(Block block, Set<String> inputs, Set<String> stopped, boolean[] relevant) {
        Set<String> reached = new HashSet<>(inputs);
        for (int i = 0; i < relevant.length; i++) {
            OpDesc op = block.ops().get(i);
            relevant[i] = intersects(op.inputNames(), reached) && GradientPruning.carries(op);
            if (relevant[i]) {
                op.outputNames().stream().filter(name -> !stopped.contains(name)).forEach(reached::add);
            }
        }
        inputs.stream().filter(name -> !stopped.contains(name)).forEach(reached::add);
    }

    private static void stopUnreached(Block block, List<OpDesc> path, Set<String> inputs, Set<String> stopped) {
        Set<String> reached = new HashSet<>(inputs);
        path.forEach(op -> reached.addAll(op.outputNames()));
        for (OpDesc op : path) {
            for (String name : op.inputNames()) {
                VarDesc desc = block.find(name);
                if (!reached.contains(name) && desc != null && desc.stopsGradient()) {
                    stopped.add(name);
                }
            }
        }
    }

    private static void backwards(Block block, Set<String> targets, Set<String> stopped, boolean[] relevant,
            Map<Integer, List<OpDesc>> paths) {
        Set<String> needed = new HashSet<>(targets);
        for (int i = relevant.length - 1; i >= 0; i--) {
            OpDesc op = block.ops().get(i);
            int inner = ControlGradients.block(op);
            if (inner >= 0) {
                Set<String> wanted = new HashSet<>(needed);
                wanted.retainAll(new HashSet<>(op.outputNames()));
                ofBlock(op, block.program().block(inner), wanted, stopped, paths);
            }
            relevant[i] &= intersects(op.outputNames(), needed) && GradientPruning.carries(op);
            if (relevant[i]) {
                op.inputNames().stream().filter(name -> !stopped.contains(name)).forEach(needed::add);
            }
        }
    }

    private static void ofBlock(OpDesc op, Block inner, Set<String> wanted, Set<String> stopped,
            Map<Integer, List<OpDesc>> paths) {
        // A state of a recurrent operation is wanted in the block under its inner name.
        Set<String> targets = new HashSet<>(wanted);
        if (op.type().equals("recurrent") && !wanted.isEmpty()) {
            inner.ops().forEach(each -> targets.addAll(each.outputNames()));
        }
        List<OpDesc> path = find(inner, targets, Set.of(), stopped, paths);
        boolean repeated = op.type().equals("while") || op.type().equals("recurrent");
        // A step reads variables that earlier steps have written. The walk is repeated with the reads that it has
        // found, until it finds no new ones.
        for (boolean grows = repeated && !path.isEmpty(); grows;) {
            int found = path.size();
            path.forEach(
                    each -> each.inputNames().stream().filter(name -> !stopped.contains(name)).forEach(targets::add));
            path = find(inner, targets, Set.of(), stopped, paths);
            grows = path.size() > found;
        }
        paths.put(inner.index(), path);
    }

    /** Outputs of the path that lead to no target: no gradient comes in for them. */
    static Set<String> unused(Block block, List<OpDesc> path, List<String> targets, Set<String> stopped) {
        Set<String> used = new HashSet<>(targets);
        Set<String> unused = new HashSet<>();
        for (OpDesc op : path.reversed()) {
            // An operation that runs a block takes the gradients that exist.
            for (String name : ControlGradients.block(op) >= 0 ? List.<String>of() : op.outputNames()) {
                VarDesc desc = block.find(name);
                if (!used.contains(name) && !op.inputNames().contains(name) && desc != null && !desc.stopsGradient()
                        && !stopped.contains(name)) {
                    unused.add(name);
                }
            }
            used.addAll(op.inputNames());
        }
        return unused;
    }

    private static boolean intersects(Collection<String> a, Set<String> b) {
        return !Collections.disjoint(a, b);
    }
}

package io.seriatim.graph.autodiff;

import io.seriatim.graph.op.DerivedGradient;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Removes gradients that are not wanted, and adds zeros where a wanted gradient needs one that no operation computes.
 */
public final class GradientPruning {
    private GradientPruning() {
    }

    /**
     * Whether gradients go through an operation. Operations of numbers and choices stop them; an operation that itself
     * computes a gradient does not, even if its own gradient is not known: to leave it out would silently give wrong
     * second gradients.
     */
    public static boolean carries(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return ControlGradients.block(op) >= 0 || schema == null || schema.gradient() != null
                || op.type().contains("grad");
    }

    /**
     * The gradient's operations of one that runs no block.
     *
     * @param discrete
     *            whether a variable holds whole numbers or truth values: what is derived gives those no gradient
     */
    static List<OpDesc> make(OpDesc op, Predicate<String> wanted, Predicate<String> discrete) {
        GradientRule rule = Operations.system().get(op.type()).gradient();
        if (rule == null && op.inputNames().stream().noneMatch(wanted)) {
            return List.of();
        }
        if (rule == null) {
            throw new IllegalArgumentException(
                    "Operation '" + op.type() + "' (outputs " + op.outputNames()
                            + ") has no gradient; stop the gradient at its inputs "
                            + op.inputNames());
        }
        return rule.make(op, rule instanceof DerivedGradient ? wanted.and(discrete.negate()) : wanted);
    }

    /**
     * Prunes operations of gradients.
     *
     * @param fromOutside
     *            gradients of variables of outer blocks: one that no operation here computes has the value with which
     *            it came in
     */
    static List<OpDesc> prune(List<OpDesc> ops, Set<String> unwanted, Set<String> targets,
            Predicate<String> fromOutside) {
        Set<String> absent = new HashSet<>(unwanted);
        Set<String> present = new HashSet<>();
        List<OpDesc> kept = new ArrayList<>();
        for (OpDesc op : ops) {
            List<String> out = op.outputNames().stream().filter(name -> !name.equals(GradientRule.EMPTY)).toList();
            if (out.isEmpty() || absent.containsAll(out)) {
                continue;
            }
            List<String> in = op.inputNames().stream().filter(name -> isGradient(name) && !targets.contains(name))
                    .toList();
            boolean fromTarget = op.inputNames().stream().anyMatch(targets::contains);
            if (!fromTarget && !in.isEmpty() && absent.containsAll(in)) {
                out.stream().filter(name -> !present.contains(name) && !fromOutside.test(name)).forEach(absent::add);
            } else {
                present.addAll(out);
                kept.add(op);
            }
        }
        return withZeros(kept, absent, targets);
    }

    /** Without the operations that no gradient from outside reaches. Their outputs must not count as parts of a sum. */
    static List<OpDesc> reached(List<OpDesc> ops, Set<String> seeds) {
        Set<String> there = new HashSet<>(seeds);
        List<OpDesc> reached = new ArrayList<>();
        Set<String> written = new HashSet<>();
        ops.forEach(op -> written.addAll(op.outputNames()));
        for (OpDesc op : ops) {
            List<String> made = op.inputNames().stream()
                    .filter(name -> isGradient(name) && (written.contains(name) || seeds.contains(name)))
                    .toList();
            // An operation that reads no gradient undoes a change in place, which is needed only once.
            if (made.stream().anyMatch(there::contains) || op.inputNames().stream().anyMatch(there::contains)) {
                there.addAll(op.outputNames());
                reached.add(op);
            }
        }
        return reached;
    }

    private static List<OpDesc> withZeros(List<OpDesc> ops, Set<String> absent, Set<String> targets) {
        List<OpDesc> result = new ArrayList<>();
        Set<String> filled = new HashSet<>();
        for (OpDesc op : ops) {
            for (String name : op.inputNames()) {
                if (isGradient(name) && absent.contains(name) && !targets.contains(name) && filled.add(name)) {
                    String of = Backward.forward(name);
                    result.add(
                            OpDesc.of("fill_any_like").in("X", of).out("Out", name).attr("value", 0f).attr("dtype", -1)
                                    .attr(Roles.SCOPE, "").build());
                }
            }
            result.add(op);
        }
        return result;
    }

    private static boolean isGradient(String name) {
        return name.contains(GradientRule.SUFFIX);
    }

    /** The operation with only those gradients that there are, or null if none is. */
    static @Nullable OpDesc existing(OpDesc op, Block block, @Nullable OpDesc parent) {
        boolean writes = op.outputNames().stream().anyMatch(name -> !name.equals(GradientRule.EMPTY));
        List<String> gradients = op.inputNames().stream().filter(GradientPruning::isGradient).toList();
        // The gradients of a recurrence's outputs come from outside of the block.
        boolean comes = gradients.isEmpty() || op.type().equals("rnn_memory_helper_grad")
                || gradients.stream().anyMatch(name -> isThere(name, block, parent));
        if (!writes || !comes) {
            return null;
        }
        if (!op.type().equals("sum")) {
            return op;
        }
        Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
        inputs.put("X", op.input("X").stream().filter(name -> isThere(name, block, parent)).toList());
        return inputs.getOrDefault("X", List.of()).isEmpty() ? null : op.with(inputs, op.outputs());
    }

    /**
     * The gradients of a step's own tensors that a derived operation reads, though nothing computes them because what
     * comes after the step does not depend on them.
     */
    static List<String> missing(OpDesc op, Block block, @Nullable OpDesc parent) {
        if (parent == null || ControlGradients.block(op) >= 0 || op.type().equals("rnn_memory_helper_grad")) {
            return List.of();
        }
        Block forward = block.program().block(block.forward());
        return op.inputNames().stream().distinct().filter(name -> isGradient(name) && !isThere(name, block, parent))
                .filter(name -> name.equals(GradientRule.gradient(Backward.forward(name)))
                        && isDense(forward.var(Backward.forward(name))))
                .toList();
    }

    private static boolean isDense(@Nullable VarDesc desc) {
        return desc != null && desc.type() instanceof VarType.Dense;
    }

    /**
     * The gradient of a loop may read what an earlier step of it wrote, and so does that of a recurrence for its
     * states. What comes from outside may have another name there, if it is a part of a sum.
     */
    private static boolean isThere(String name, Block block, @Nullable OpDesc parent) {
        if (block.find(name) != null) {
            return true;
        }
        if (parent == null) {
            return false;
        }
        String outside = ControlGradients.outside(parent, name);
        boolean comes = !outside.equals(name) && block.program().block(block.parent()).find(outside) != null;
        return comes || (parent.inputNames().contains(outside) && parent.outputNames().contains(outside))
                || isOfState(name, parent);
    }

    private static boolean isOfState(String name, OpDesc parent) {
        return parent.type().equals("recurrent_grad")
                && parent.attribute("states") instanceof Attribute.Texts(List<String> states)
                && states.contains(Backward.forward(name));
    }
}

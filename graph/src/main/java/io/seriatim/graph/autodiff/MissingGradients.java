package io.seriatim.graph.autodiff;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.UntrainedParameter;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds out why parameters have no gradient: where their paths to the loss end. */
public final class MissingGradients {
    private static final int MOST_REASONS = 3;

    /** An operation that runs no block, or what a recurrent operation hands from step to step. */
    private record Place(OpDesc op, Block block, List<String> in, List<String> out) {
    }

    private final Program program;
    private final String loss;
    private final Set<String> noGradient;
    private final List<Place> places = new ArrayList<>();
    private final Set<String> leading;

    private MissingGradients(Program program, String loss, Set<String> noGradient) {
        this.program = program;
        this.loss = loss;
        this.noGradient = noGradient;
        for (Block block : program.blocks()) {
            if (block.forward() == Block.NONE) {
                block.ops().stream().filter(op -> !Roles.isTraining(op)).forEach(op -> add(block, op));
            }
        }
        this.leading = leading();
    }

    private void add(Block block, OpDesc op) {
        if (ControlGradients.block(op) < 0) {
            places.add(new Place(op, block, op.inputNames(), op.outputNames()));
        } else if (op.type().equals("recurrent")
                && op.attribute("ex_states") instanceof Attribute.Texts(List<String> before)
                && op.attribute("states") instanceof Attribute.Texts(List<String> after)) {
            Block inner = program.block(ControlGradients.block(op));
            for (int i = 0; i < before.size(); i++) {
                places.add(new Place(op, inner, List.of(op.input("initial_states").get(i), after.get(i)),
                        List.of(before.get(i))));
            }
        }
    }

    /** Variables on which the loss depends. */
    private Set<String> leading() {
        Set<String> names = new HashSet<>(Set.of(loss));
        // The second round is for what a step writes for the next one.
        boolean grows = true;
        while (grows) {
            grows = false;
            for (Place place : places.reversed()) {
                grows |= !Collections.disjoint(place.out(), names) && names.addAll(place.in());
            }
        }
        return names;
    }

    public static List<UntrainedParameter> of(Program program, String loss, List<String> parameters,
            Set<String> noGradient) {
        if (parameters.isEmpty()) {
            return List.of();
        }
        MissingGradients search = new MissingGradients(program, loss, noGradient);
        return parameters.stream().map(name -> new UntrainedParameter(name, search.reason(name))).toList();
    }

    /**
     * Throws an IllegalArgumentException unless all operations between parameters and a loss carry gradients. Those
     * whose results are whole numbers or truth values, or do not depend on the values of their inputs, need not.
     */
    public static void require(Program program, String loss, List<String> parameters, Set<String> noGradient) {
        MissingGradients search = new MissingGradients(program, loss, noGradient);
        Set<String> reached = new HashSet<>(parameters);
        Map<String, String> without = new LinkedHashMap<>();
        boolean grows = true;
        while (grows) {
            grows = false;
            for (Place place : search.places) {
                for (String name : reads(place, reached) ? place.out() : List.<String>of()) {
                    VarDesc desc = place.block().find(name);
                    boolean flows = search.leading.contains(name) && desc != null && !isDiscrete(desc)
                            && !noGradient.contains(name);
                    if (flows && !GradientPruning.carries(place.op())) {
                        without.putIfAbsent(place.op().type(), name);
                    } else if (flows && reached.add(name)) {
                        grows = true;
                    }
                }
            }
        }
        if (!without.isEmpty()) {
            List<String> named = new ArrayList<>();
            without.forEach((type, output) -> named.add("'" + type + "' (of '" + output + "')"));
            throw new IllegalArgumentException("The loss '" + loss + "' cannot be minimised, since "
                    + (named.size() == 1
                            ? "an operation between it and the parameters has"
                            : "operations between it "
                                    + "and the parameters have")
                    + " no gradient: " + String.join(", ", named)
                    + ". Name their outputs as variables without gradient, "
                    + "or give only parameters that the loss does not reach through them");
        }
    }

    /** Whether an operation reads one of some variables, and not only its shape. */
    private static boolean reads(Place place, Set<String> variables) {
        if (Collections.disjoint(place.in(), variables)) {
            return false;
        }
        Operation schema = Operations.system().find(place.op().type());
        return schema == null || schema.shapesOnly().isEmpty() || place.op().inputs().entrySet().stream().anyMatch(
                slot -> !schema.shapesOnly().contains(slot.getKey())
                        && !Collections.disjoint(slot.getValue(), variables));
    }

    private String reason(String parameter) {
        if (places.stream().noneMatch(place -> place.in().contains(parameter))) {
            return "no operation reads it";
        }
        if (!leading.contains(parameter)) {
            return "the loss '" + loss + "' does not depend on it";
        }
        if (noGradient.contains(parameter) || program.global().get(parameter).stopsGradient()) {
            return "its own gradient is stopped";
        }
        Set<String> reasons = new LinkedHashSet<>();
        Set<String> reached = new HashSet<>(Set.of(parameter));
        boolean grows = true;
        while (grows) {
            grows = false;
            for (Place place : places) {
                grows |= pass(place, reached, reasons);
            }
        }
        if (reached.contains(loss) || reasons.isEmpty()) {
            return "although the loss depends on it, which is an error in how gradients are made";
        }
        List<String> named = reasons.stream().limit(MOST_REASONS).toList();
        return String.join("; ", named)
                + (reasons.size() > named.size() ? "; " + (reasons.size() - named.size()) + " more" : "");
    }

    /** Continues from the inputs of an operation to its outputs, or notes the obstacle. */
    private boolean pass(Place place, Set<String> reached, Set<String> reasons) {
        List<String> read = place.in().stream().filter(reached::contains).distinct().toList();
        List<String> written = place.out().stream().filter(name -> leading.contains(name) && !reached.contains(name))
                .toList();
        if (read.isEmpty() || written.isEmpty()) {
            return false;
        }
        String blocked = blocked(place.op(), read);
        if (blocked != null) {
            reasons.add(blocked);
            return false;
        }
        boolean grows = false;
        for (String name : written) {
            VarDesc desc = place.block().find(name);
            if (desc != null && isDiscrete(desc)) {
                reasons.add("'" + name + "' is " + desc.tensor() + ", through which no gradient flows");
            } else if (noGradient.contains(name) || (desc != null && desc.stopsGradient())) {
                reasons.add("the gradient of '" + name + "' is stopped");
            } else {
                grows |= reached.add(name);
            }
        }
        return grows;
    }

    /** The obstacle between an operation's output and its input; null if there is none. */
    private static @Nullable String blocked(OpDesc op, List<String> read) {
        if (!GradientPruning.carries(op)) {
            return "operation '" + op.type() + "' has no gradient";
        }
        Operation schema = Operations.system().find(op.type());
        GradientRule rule = schema == null ? null : schema.gradient();
        if (rule == null) {
            return null;
        }
        Set<String> gradients = new HashSet<>();
        rule.make(op, _ -> true).forEach(each -> gradients.addAll(each.outputNames()));
        return read.stream().map(GradientRule::gradient).anyMatch(gradients::contains)
                ? null
                : "operation '" + op.type() + "' has no gradient for '" + read.getFirst() + "'";
    }

    static boolean isDiscrete(VarDesc desc) {
        VarType.TensorType tensor = desc.type().tensorType();
        return tensor != null && DataTypes.find(tensor.dataType()) != null && !tensor.dtype().isDifferentiable();
    }
}

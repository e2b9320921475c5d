package io.seriatim.graph.autodiff;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a recurrence as a recurrence in the other direction: its states are the gradients of the states, its
 * sequences those of the forward recurrence, the gradients of its outputs, and what its steps have computed, which the
 * forward recurrence gives out as further outputs.
 */
final class RecordedRecurrence {
    private final Program program;
    private final OpDesc op;
    private final StepWriter outer;
    private final RecordedNames names;
    private final Block gradient;
    private final Block forward;
    private final StepWriter inner;
    private final Map<String, String> recorded = new HashMap<>();
    private final Set<String> sequences = new LinkedHashSet<>();
    private final List<String> outputs = new ArrayList<>();

    RecordedRecurrence(Program program, OpDesc op, StepWriter outer) {
        this.program = program;
        this.op = op;
        this.outer = outer;
        names = outer.names();
        gradient = program.block(ControlGradients.block(op));
        forward = program.block(gradient.forward());
        Block block = program.addBlock(outer.block().index(), null);
        inner = new StepWriter(names, gradient, block, outer, this::part);
    }

    private List<String> texts(String attribute) {
        return op.attribute(attribute) instanceof Attribute.Texts(List<String> texts) ? texts : List.of();
    }

    /** The part that a step has of a sequence outside; what is not yet one becomes an output of the recurrence. */
    private @Nullable String part(String name) {
        if (forward.var(name) == null && !op.input("inputs").contains(name)) {
            return null;
        }
        boolean isSequence = op.input("inputs").contains(name) || op.input("outputs").contains(name);
        String sequence = isSequence ? name : recorded.computeIfAbsent(name, this::record);
        return enter(outer.read(sequence), forward.get(name).type(), forward.get(name).stopsGradient());
    }

    /** A sequence has the same name inside and outside. */
    private String enter(String sequence, VarType part, boolean stops) {
        sequences.add(sequence);
        inner.block().put(VarDesc.of(sequence, part).stopping(stops));
        return sequence;
    }

    private String record(String name) {
        VarDesc desc = forward.get(name);
        if (!(desc.type() instanceof VarType.Dense)) {
            throw new IllegalArgumentException("The gradient of a gradient needs '" + name + "', which each step of "
                    + "the recurrence of block " + forward.index() + " makes, and which is no dense tensor: steps can "
                    + "be recorded of tensors only; make the list outside of the recurrence");
        }
        String from = texts("states").contains(name) ? beforeHandedOn(name) : name;
        String result = names.fresh(name);
        forward.put(VarDesc.of(result, desc.type()).stopping(desc.stopsGradient()));
        forward.add(Appender.complete(handedOn(from, result), Roles.FORWARD));
        Block parent = program.block(forward.parent());
        parent.put(VarDesc.of(result, stacked(desc.type())).stopping(desc.stopsGradient()));
        OpDesc runner = RecordedSteps.find(forward);
        if (runner == null) {
            throw new IllegalArgumentException("No recurrence runs block " + forward.index()
                    + ", whose gradient is to be differentiated; keep it in the program");
        }
        Map<String, List<String>> out = new LinkedHashMap<>(runner.outputs());
        List<String> all = new ArrayList<>(runner.output("outputs"));
        all.add(result);
        out.put("outputs", all);
        parent.set(parent.ops().indexOf(runner), runner.with(runner.inputs(), out));
        return result;
    }

    /**
     * The variable of which a state is a copy. The gradient of the state itself comes in from the next step: nothing
     * else in the block may add to it.
     */
    private String beforeHandedOn(String state) {
        List<OpDesc> ops = forward.ops();
        for (int i = ops.size() - 1; i >= 0; i--) {
            if (ops.get(i).outputNames().contains(state)) {
                if (ops.get(i).type().equals("rnn_memory_helper")) {
                    return ops.get(i).input("X").getFirst();
                }
                VarDesc desc = forward.get(state);
                String own = names.declare(forward, state, desc.type(), desc.stopsGradient());
                forward.set(i, ops.get(i).renamed(name -> name, name -> name.equals(state) ? own : name));
                forward.add(i + 1, Appender.complete(handedOn(own, state), Roles.FORWARD));
                return own;
            }
        }
        return state;
    }

    /** A result of a step: the gradient of the copy comes from outside of the block. */
    private static OpDesc handedOn(String value, String result) {
        return OpDesc.of("rnn_memory_helper").in("X", value).out("Out", result).build();
    }

    private static VarType stacked(VarType part) {
        VarType.TensorType type = part.tensorType();
        if (type == null) {
            throw new IllegalArgumentException("A part of a sequence is a tensor, but is " + part);
        }
        List<Long> dims = new ArrayList<>(type.dims());
        dims.addFirst(-1L);
        return new VarType.Dense(new VarType.TensorType(type.dataType(), dims), null);
    }

    void convert(BiConsumer<OpDesc, StepWriter> copy) {
        List<String> before = texts("ex_states");
        List<String> after = texts("states");
        List<String> entering = new ArrayList<>();
        List<String> first = new ArrayList<>();
        for (int i = 0; i < after.size(); i++) {
            String initial = op.input("initial_states").get(i);
            String zeros = outer.state(initial);
            outer.add(RecordedNames.zeros(outer.read(initial), zeros));
            first.add(zeros);
            String state = inner.state(before.get(i));
            entering.add(state);
            inner.set(GradientRule.gradient(after.get(i)), state);
        }
        for (int i = 0; i < op.input("outputs").size(); i++) {
            entering(op.input("outputs").get(i), op.input("outputs@GRAD").get(i));
        }
        gradient.ops().forEach(each -> copy.accept(each, inner));
        List<String> leaving = new ArrayList<>();
        for (int i = 0; i < after.size(); i++) {
            leaving.add(leave(GradientRule.gradient(before.get(i)), entering.get(i)));
        }
        Map<String, String> results = results(before.size(), leaving);
        inner.end();
        append(entering, first, leaving);
        finish(results);
    }

    /** The gradient of an output comes in parts. */
    private void entering(String of, String gradient) {
        String name = GradientRule.gradient(of);
        boolean known = !gradient.equals(GradientRule.EMPTY) && outer.isKnown(gradient);
        String whole = outer.state(of);
        outer.add(known
                ? RecordedNames.assign(outer.read(gradient), whole)
                : RecordedNames.zeros(outer.read(of), whole));
        String part = enter(whole, forward.get(of).type(), false);
        String there = inner.here(name);
        if (there == null) {
            inner.set(name, part);
        } else {
            // An output may also be a state.
            String sum = inner.state(of);
            inner.add(OpDesc.of("sum").in("X", there, part).out("Out", sum).build());
            inner.set(name, sum);
        }
    }

    /** A result of a step: a copy of what it has computed, or zeros. */
    private String leave(String name, String like) {
        String value = inner.here(name);
        VarDesc desc = inner.block().find(like);
        VarType.TensorType type = desc == null ? null : desc.type().tensorType();
        if (type == null) {
            throw new IllegalArgumentException("There is no tensor '" + like + "' of which '" + name
                    + "' could be the gradient; declare it");
        }
        String result = names.declare(inner.block(), name, new VarType.Dense(type, null), false);
        boolean rows = value != null && inner.block().get(value).type() instanceof VarType.Rows;
        String last = value;
        if (last == null || rows) {
            last = names.declare(inner.block(), name, new VarType.Dense(type, null), false);
            inner.add(RecordedNames.zeros(like, last));
        }
        if (value != null && rows) {
            String sum = names.declare(inner.block(), name, new VarType.Dense(type, null), false);
            inner.add(OpDesc.of("sum").in("X", last, value).out("Out", sum).build());
            last = sum;
        }
        inner.add(handedOn(last, result));
        return result;
    }

    /** By gradient that the operation writes, the output that has it in parts. */
    private Map<String, String> results(int states, List<String> leaving) {
        Map<String, String> results = new LinkedHashMap<>();
        for (String slot : List.of("inputs", "parameters")) {
            for (int i = 0; i < op.output(slot + GradientRule.SUFFIX).size(); i++) {
                String to = op.output(slot + GradientRule.SUFFIX).get(i);
                String of = op.input(slot).get(i);
                if (!to.equals(GradientRule.EMPTY)) {
                    String result = leave(GradientRule.gradient(of), inner.read(of));
                    output(result);
                    results.put(to, result);
                }
            }
        }
        for (int i = 0; i < Math.min(states, op.output("initial_states@GRAD").size()); i++) {
            if (!op.output("initial_states@GRAD").get(i).equals(GradientRule.EMPTY)) {
                output(leaving.get(i));
            }
        }
        return results;
    }

    private void output(String name) {
        if (!outputs.contains(name)) {
            outputs.add(name);
            outer.block().put(VarDesc.of(name, stacked(inner.block().get(name).type())));
        }
    }

    private boolean isReverse() {
        return op.attribute("reverse") instanceof Attribute.Bool(boolean reverse) && reverse;
    }

    private void append(List<String> entering, List<String> first, List<String> leaving) {
        Set<String> parameters = inner.outside(false);
        parameters.removeAll(sequences);
        String scopes =
                names.declare(outer.block(), "scopes", new VarType.Other(VarType.STEP_SCOPES), true);
        Map<String, List<String>> in = new TreeMap<>(Map.of("inputs", List.copyOf(sequences), "initial_states", first,
                "parameters", List.copyOf(parameters)));
        Map<String, List<String>> out =
                new TreeMap<>(Map.of("outputs", List.copyOf(outputs), "step_scopes", List.of(scopes)));
        outer.add(new OpDesc("recurrent", in, out, op.attributes(), null).with("sub_block", inner.block())
                .with("ex_states", entering.toArray(String[]::new)).with("states", leaving.toArray(String[]::new))
                .with("has_states", !entering.isEmpty()).with("reverse", !isReverse()).with("is_train", true)
                .builtWith(op));
        for (int i = 0; i < op.output("initial_states@GRAD").size(); i++) {
            String to = op.output("initial_states@GRAD").get(i);
            if (!to.equals(GradientRule.EMPTY)) {
                // The last step is that of the forward recurrence's first.
                outer.add(OpDesc.of("slice").in("Input", leaving.get(i)).out("Out", outer.write(to))
                        .attr("axes", new int[]{0}).attr("starts", new int[]{isReverse() ? -1 : 0})
                        .attr("ends", new int[]{isReverse() ? Integer.MAX_VALUE : 1})
                        .attr("decrease_axis", new int[]{0}).build());
            }
        }
    }

    private void finish(Map<String, String> results) {
        for (String slot : List.of("inputs", "parameters")) {
            for (String to : op.output(slot + GradientRule.SUFFIX)) {
                String result = results.get(to);
                if (result != null) {
                    outer.add(slot.equals("inputs")
                            ? RecordedNames.assign(result, outer.write(to))
                            : OpDesc.of("reduce_sum").in("X", result).out("Out", outer.write(to))
                                    .attr("dim", new int[]{0}).attr("keep_dim", false).build());
                }
            }
        }
    }
}

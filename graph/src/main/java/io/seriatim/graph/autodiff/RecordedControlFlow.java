package io.seriatim.graph.autodiff;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Makes the gradients of control flow differentiable. {@code while_grad} and {@code conditional_block_grad} find what
 * the steps of the forward block have computed in the environments of those steps, through which no gradient could
 * flow. Before gradients of such gradients are made, they are replaced: the forward block records the variables that
 * its gradient reads in lists ({@link RecordedSteps}), and the gradient becomes an ordinary loop or branch that takes
 * them from there, with fresh variables for what it computes ({@link StepWriter}). {@code recurrent_grad} becomes a
 * recurrence in the other direction ({@link RecordedRecurrence}). The results are the same, under the same names.
 */
public final class RecordedControlFlow {
    private static final Set<String> GRADIENTS = Set.of("while_grad", "conditional_block_grad", "recurrent_grad");
    private static final VarType NUMBER = VarType.dense(DType.INT64, 1);

    private final Program program;
    private final RecordedNames names;
    private final Map<Integer, RecordedSteps> recordings = new HashMap<>();
    /** Begins what replaces an operation of the first block. */
    private StepWriter top;

    private RecordedControlFlow(Program program) {
        this.program = program;
        this.names = new RecordedNames(program);
        this.top = top();
    }

    private StepWriter top() {
        return new StepWriter(names, program.global(), program.global(), null, _ -> null);
    }

    /**
     * Replaces the gradients of control flow on which some variables depend.
     *
     * @param program
     *            is changed
     * @param targets
     *            the variables
     * @throws IllegalArgumentException
     *             if a gradient cannot be replaced; then nothing is changed
     */
    public static void rewrite(Program program, Collection<String> targets) {
        List<OpDesc> found = find(program.global(), targets);
        if (!found.isEmpty()) {
            // What cannot be recorded is found before anything is changed.
            new RecordedControlFlow(program.copy()).rewrite(found);
            new RecordedControlFlow(program).rewrite(found);
        }
    }

    private static List<OpDesc> find(Block block, Collection<String> targets) {
        Set<String> needed = new HashSet<>(targets);
        List<OpDesc> found = new ArrayList<>();
        for (OpDesc op : block.ops().reversed()) {
            if (op.outputNames().stream().anyMatch(needed::contains)) {
                needed.addAll(op.inputNames());
                if (GRADIENTS.contains(op.type())) {
                    found.addFirst(op);
                }
            }
        }
        return found;
    }

    private void rewrite(List<OpDesc> gradients) {
        Block block = program.global();
        for (OpDesc gradient : gradients) {
            OpDesc op = separate(block, gradient);
            top = top();
            StepWriter writer = top;
            block.ops().subList(0, block.ops().indexOf(op)).forEach(each -> writer.written(each.outputNames()));
            convert(op, writer);
            List<OpDesc> ops = new ArrayList<>(block.ops());
            int at = ops.indexOf(op);
            ops.remove(at);
            ops.addAll(at, writer.ops());
            block.setOps(ops);
        }
        StepWriter first = top();
        names.first().forEach(first::add);
        List<OpDesc> ops = new ArrayList<>(first.ops());
        ops.addAll(block.ops());
        block.setOps(ops);
    }

    /**
     * Gives the incoming gradients names of their own where the operation overwrites them: a gradient of a variable is
     * that of its last value.
     */
    private OpDesc separate(Block block, OpDesc gradient) {
        int at = block.ops().indexOf(gradient);
        Map<String, String> renamed = new HashMap<>();
        List<OpDesc> before = block.ops().subList(0, at);
        for (String name : gradient.outputNames()) {
            if (!name.equals(GradientRule.EMPTY) && before.stream().anyMatch(op -> op.outputNames().contains(name))) {
                String earlier = name + "@BEFORE" + names.fresh("").replace("@RECORDED", "");
                block.put(block.get(name).named(earlier));
                renamed.put(name, earlier);
            }
        }
        UnaryOperator<String> rename = name -> renamed.getOrDefault(name, name);
        List<OpDesc> ops = new ArrayList<>(block.ops());
        for (int i = 0; i < at; i++) {
            ops.set(i, renamed(ops.get(i), rename));
        }
        OpDesc op = gradient.renamed(rename, name -> name);
        ops.set(at, op);
        block.setOps(ops);
        return op;
    }

    private OpDesc renamed(OpDesc op, UnaryOperator<String> rename) {
        if (op.attribute("sub_block") instanceof Attribute.BlockRef(int index)) {
            Block inner = program.block(index);
            if (!GRADIENTS.contains(op.type())) {
                inner.setOps(inner.ops().stream()
                        .map(each -> renamed(each, name -> inner.var(name) == null ? rename.apply(name) : name))
                        .toList());
            }
        }
        return op.renamed(rename, rename);
    }

    /** Adds what replaces the gradient of control flow; other operations are copied. */
    private void convert(OpDesc op, StepWriter writer) {
        switch (op.type()) {
            case "while_grad" -> loop(op, writer);
            case "conditional_block_grad" -> branch(op, writer);
            case "recurrent_grad" -> new RecordedRecurrence(program, op, writer).convert(this::convert);
            default -> writer.copy(op);
        }
    }

    private RecordedSteps recording(Block forward) {
        RecordedSteps recording = recordings.get(forward.index());
        if (recording == null) {
            recording = new RecordedSteps(names, forward);
            recordings.put(forward.index(), recording);
        }
        return recording;
    }

    /** Walks back through the recorded steps, in a new block. */
    private final class Walk {
        private final OpDesc op;
        private final StepWriter outer;
        private final Block gradient;
        private final Block forward;
        private final RecordedSteps recording;
        /** Counts the steps that are left, over all times that the block has run. */
        private final String left;
        private final String step;
        private final StepWriter inner;

        /** Given what lists the values of a variable of an outer block that the steps write; null for others. */
        Walk(OpDesc op, StepWriter outer, Function<Walk, Function<String, @Nullable String>> changed) {
            this.op = op;
            this.outer = outer;
            gradient = program.block(ControlGradients.block(op));
            forward = program.block(gradient.forward());
            recording = recording(forward);
            left = names.declare(program.global(), "steps.left", NUMBER, true);
            top.addBefore(RecordedNames.assign(recording.counter(), left));
            Block block = program.addBlock(outer.block().index(), null);
            step = names.declare(block, "step", NUMBER, true);
            Function<String, @Nullable String> lists = changed.apply(this);
            inner = new StepWriter(names, gradient, block, outer, name -> recorded(name, lists));
            inner.addBefore(RecordedNames.plus(left, -1, step));
        }

        private @Nullable String recorded(String name, Function<String, @Nullable String> lists) {
            String list = forward.var(name) != null ? recording.after(name) : lists.apply(name);
            if (list == null) {
                return null;
            }
            VarDesc desc = forward.get(name);
            String value = names.declare(inner.block(), name, desc.type(), desc.stopsGradient());
            inner.addBefore(OpDesc.of("array_peek").in("X", list).in("I", step).out("Out", value).build());
            return value;
        }
    }

    private void loop(OpDesc op, StepWriter outer) {
        Set<String> written = written(program.block(program.block(ControlGradients.block(op)).forward()));
        Set<String> counted = new LinkedHashSet<>();
        Walk walk = new Walk(op, outer, each -> {
            // A counter that the block sets back begins as the loop has left it.
            written(each.gradient).stream().filter(written::contains).forEach(counted::add);
            return name -> written.contains(name) && !counted.contains(name)
                    && each.forward.get(name).type() instanceof VarType.Dense ? each.recording.before(name) : null;
        });
        StepWriter inner = walk.inner;
        Map<String, String> carried = new LinkedHashMap<>();
        List<String> inside = op.attribute("original_output_grad") instanceof Attribute.Texts(List<String> given)
                ? given
                : op.input("Out@GRAD");
        for (int i = 0; i < inside.size(); i++) {
            String name = inside.get(i);
            String from = op.input("Out@GRAD").get(i);
            boolean known = !from.equals(GradientRule.EMPTY) && outer.isKnown(from);
            if (known || walk.forward.parent() == Block.NONE || program.block(walk.forward.parent())
                    .find(Backward.forward(name)) != null) {
                String state = outer.state(name);
                if (known) {
                    outer.add(RecordedNames.assign(outer.read(from), state));
                } else {
                    outer.zeros(Backward.forward(name), state);
                }
                carried.put(name, state);
            }
        }
        Map<String, String> sums = new LinkedHashMap<>();
        for (int i = 0; i < op.output("X@GRAD").size(); i++) {
            String of = op.input("X").get(i);
            String name = GradientRule.gradient(of);
            if (!op.output("X@GRAD").get(i).equals(GradientRule.EMPTY) && !carried.containsKey(name)) {
                String state = outer.state(name);
                outer.zeros(of, state);
                sums.put(name, state);
            }
        }
        carried.forEach(inner::set);
        sums.forEach((name, state) -> {
            if (isList(outer, state)) {
                inner.set(name, state);
            }
        });
        counted.forEach(name -> inner.set(name, outer.read(name)));
        walk.gradient.ops().forEach(each -> convert(each, inner));
        carried.forEach((name, state) -> {
            String last = inner.read(name);
            if (!last.equals(state)) {
                inner.add(RecordedNames.assign(last, state));
            } else if (!isList(outer, state) && op.input("Out").contains(Backward.forward(name))) {
                String zeros = inner.state(name);
                inner.add(RecordedNames.zeros(state, zeros));
                inner.add(RecordedNames.assign(zeros, state));
            }
        });
        sums.forEach((name, state) -> {
            String last = inner.here(name);
            if (last != null && !last.equals(state)) {
                String sum = inner.state(name);
                inner.add(OpDesc.of("sum").in("X", state, last).out("Out", sum).build());
                inner.add(RecordedNames.assign(sum, state));
            }
        });
        counted.forEach(name -> {
            if (!inner.read(name).equals(outer.read(name))) {
                inner.add(RecordedNames.assign(inner.read(name), outer.read(name)));
            }
        });
        append(walk, outer.read(walk.recording.base()));
        for (int i = 0; i < op.output("X@GRAD").size(); i++) {
            String to = op.output("X@GRAD").get(i);
            if (!to.equals(GradientRule.EMPTY)) {
                String name = GradientRule.gradient(op.input("X").get(i));
                String state = carried.getOrDefault(name, sums.getOrDefault(name, GradientRule.EMPTY));
                outer.add(RecordedNames.assign(state, outer.write(to)));
            }
        }
    }

    private static boolean isList(StepWriter outer, String state) {
        return outer.block().get(state).type() instanceof VarType.TensorArray;
    }

    private static Set<String> written(Block block) {
        Set<String> written = new LinkedHashSet<>();
        block.ops().forEach(op -> op.outputNames().stream().filter(name -> block.var(name) == null)
                .forEach(written::add));
        return written;
    }

    /** Adds the loop, as long as steps are left that it has recorded. */
    private void append(Walk walk, String base) {
        StepWriter inner = walk.inner;
        VarType truth = VarType.dense(DType.BOOL, 1);
        String condition = names.declare(walk.outer.block(), "left", truth, true);
        String again = names.declare(inner.block(), "left", truth, true);
        inner.add(OpDesc.of("greater_than").in("X", walk.step).in("Y", base).out("Out", again).build());
        inner.add(RecordedNames.assign(walk.step, walk.left));
        inner.add(RecordedNames.assign(again, condition));
        inner.end();
        walk.outer.add(OpDesc.of("greater_than").in("X", walk.left).in("Y", base).out("Out", condition).build());
        Set<String> written = inner.outside(true);
        Set<String> read = inner.outside(false);
        read.addAll(written);
        read.remove(condition);
        walk.outer.add(OpDesc.of("while").in("X", read).in("Condition", condition).out("Out", written)
                .out("StepScopes", scopes(walk.outer)).attr("sub_block", inner.block()).attr("is_test", false)
                .attr("skip_eager_deletion_vars", new String[0]).build().builtWith(walk.op));
    }

    private String scopes(StepWriter outer) {
        return names.declare(outer.block(), "scopes", new VarType.Other(VarType.STEP_SCOPES), true);
    }

    private void branch(OpDesc op, StepWriter outer) {
        // A branch that was not taken may leave variables that it writes without values.
        Set<String> written = written(program.block(program.block(ControlGradients.block(op)).forward()));
        Walk walk = new Walk(op, outer, each -> name -> written.contains(name)
                && each.forward.get(name).type() instanceof VarType.Dense ? each.recording.after(name) : null);
        StepWriter inner = walk.inner;
        Map<String, String> incoming = new TreeMap<>();
        for (int i = 0; i < op.input("Out").size(); i++) {
            String from = op.input("Out@GRAD").get(i);
            if (!from.equals(GradientRule.EMPTY) && outer.isKnown(from)) {
                incoming.put(GradientRule.gradient(op.input("Out").get(i)), outer.read(from));
            }
        }
        incoming.forEach(inner::set);
        zerosInside(op, walk, incoming.keySet());
        Map<String, String> results = new LinkedHashMap<>();
        for (int i = 0; i < op.output("Input@GRAD").size(); i++) {
            String of = op.input("Input").get(i);
            String name = GradientRule.gradient(of);
            if (!op.output("Input@GRAD").get(i).equals(GradientRule.EMPTY)) {
                String state = outer.state(name);
                if (incoming.containsKey(name)) {
                    outer.add(RecordedNames.assign(incoming.get(name), state));
                } else {
                    outer.zeros(of, state);
                }
                results.put(name, state);
                if (isList(outer, state)) {
                    inner.set(name, state);
                }
            }
        }
        walk.gradient.ops().forEach(each -> convert(each, inner));
        results.forEach((name, state) -> {
            String last = inner.here(name);
            if (last != null && !last.equals(state) && !last.equals(incoming.get(name))) {
                inner.add(RecordedNames.assign(last, state));
            }
        });
        inner.add(RecordedNames.assign(walk.step, walk.left));
        inner.end();
        Set<String> changed = inner.outside(true);
        Set<String> read = inner.outside(false);
        read.addAll(changed);
        outer.add(new OpDesc("conditional_block",
                new TreeMap<>(Map.of("Cond", op.input("Cond").stream().map(outer::read).toList(), "Input",
                        List.copyOf(read))),
                new TreeMap<>(Map.of("Out", List.copyOf(changed), "Scope", List.of(scopes(outer)))),
                op.attributes(), null).with("sub_block", inner.block()).builtWith(op));
        for (int i = 0; i < op.output("Input@GRAD").size(); i++) {
            String to = op.output("Input@GRAD").get(i);
            if (!to.equals(GradientRule.EMPTY)) {
                String state = results.getOrDefault(GradientRule.gradient(op.input("Input").get(i)),
                        GradientRule.EMPTY);
                outer.add(RecordedNames.assign(state, outer.write(to)));
            }
        }
    }

    /** Gradients of results that nothing reads after the branch, but the block. */
    private static void zerosInside(OpDesc op, Walk walk, Set<String> known) {
        Set<String> read = new HashSet<>();
        walk.gradient.ops().forEach(each -> read.addAll(each.inputNames()));
        for (String of : op.input("Out")) {
            String name = GradientRule.gradient(of);
            if (!known.contains(name) && read.contains(name) && !walk.inner.isList(name)) {
                String zeros = walk.inner.state(name);
                walk.inner.addBefore(RecordedNames.zeros(walk.inner.read(of), zeros));
                walk.inner.set(name, zeros);
            }
        }
    }
}

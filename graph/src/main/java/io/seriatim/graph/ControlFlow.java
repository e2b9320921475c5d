package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.autodiff.GradientPruning;
import io.seriatim.graph.autodiff.GradientReads;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Branches and loops: blocks, and the operations that run them, as Paddle's cond and while_loop make them. */
final class ControlFlow {
    private ControlFlow() {
    }

    static List<Value> ifElse(Graph graph, Value condition, Supplier<List<Value>> then,
            Supplier<List<Value>> otherwise) {
        condition.checkVisible(graph);
        checkCondition(condition);
        List<Value> taken = branch(graph, condition, then);
        Value not = condition.not();
        List<Value> other = branch(graph, not, otherwise);
        if (taken.size() != other.size()) {
            throw new IllegalArgumentException(
                    "Both branches of '" + condition.name() + "' must have as many results, but have "
                            + taken.size() + " and " + other.size());
        }
        Value mask = condition.cast(DType.INT32);
        List<Value> results = new ArrayList<>();
        for (int i = 0; i < taken.size(); i++) {
            results.add(select(graph, mask, other.get(i), taken.get(i)));
        }
        return results;
    }

    private static void checkCondition(Value condition) {
        if (condition.dtype() != DType.BOOL || condition.shape().stream().anyMatch(dim -> dim != 1)) {
            throw new IllegalArgumentException(
                    "A condition is bool and has one element, but '" + condition.name() + "' is "
                            + condition.type());
        }
    }

    private static Value select(Graph graph, Value mask, Value no, Value yes) {
        if (no.dtype() != yes.dtype()) {
            throw new IllegalArgumentException(
                    "Both branches must give one type, but give " + yes.type() + " and " + no.type());
        }
        String name = graph.names().next("_generated_var");
        OpDesc op = OpDesc.of("select_input").in("X", no.name(), yes.name()).in("Mask", mask.name()).out("Out", name)
                .build();
        VarType.TensorType type = merged(yes.type(), no.type());
        graph.block().put(VarDesc.of(name, new VarType.Dense(type, null)));
        graph.block().add(Appender.complete(op, graph.role()));
        return graph.value(name);
    }

    /** Dimensions in which the branches differ are unknown. */
    private static VarType.TensorType merged(VarType.TensorType a, VarType.TensorType b) {
        if (a.dims().size() != b.dims().size()) {
            throw new IllegalArgumentException(
                    "Both branches must give as many dimensions, but give " + a + " and " + b);
        }
        List<Long> dims = new ArrayList<>();
        for (int i = 0; i < a.dims().size(); i++) {
            dims.add(a.dims().get(i).equals(b.dims().get(i)) ? a.dims().get(i) : -1L);
        }
        return new VarType.TensorType(a.dataType(), dims);
    }

    private static List<Value> branch(Graph graph, Value condition, Supplier<List<Value>> body) {
        Block outer = graph.block();
        Block block = graph.main().addBlock(outer.index(), null);
        List<String> outs = new ArrayList<>();
        graph.in(block, () -> {
            for (Value result : visible(graph, body.get(), "A branch")) {
                String name = graph.names().next("_generated_var");
                outer.put(VarDesc.of(name, new VarType.Dense(result.type(), null)).stopping(result.stopsGradient()));
                block.add(Appender.complete(OpDesc.of("assign").in("X", result.name()).out("Out", name).build(),
                        graph.role()));
                outs.add(name);
            }
            return outs;
        });
        String scope = graph.names().next("_generated_var");
        outer.put(new VarDesc(scope, new VarType.Other(VarType.STEP_SCOPES), null, null, null, null));
        Set<String> inputs = new LinkedHashSet<>(readFromOutside(block));
        // A variable of an outer block that only one branch writes keeps its value, and its gradient, when the other
        // branch runs.
        Set<String> written = writtenOutside(block);
        outs.forEach(written::remove);
        inputs.addAll(written);
        List<String> results = List.copyOf(outs);
        outs.addAll(written);
        outer.add(Appender.complete(
                OpDesc.of("conditional_block").in("Cond", condition.name()).in("Input", inputs).out("Out", outs)
                        .out("Scope", scope).attr("sub_block", block).attr("is_scalar_condition", true)
                        .attr("skip_eager_deletion_vars", new String[0]).build(),
                graph.role()));
        return results.stream().map(graph::value).toList();
    }

    private static List<Value> visible(Graph graph, @Nullable List<Value> values, String what) {
        if (values == null || values.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException(
                    what + " gives variables, but this gives " + values + "; an empty list stands for none");
        }
        values.forEach(value -> value.checkVisible(graph));
        return values;
    }

    /** The variables of outer blocks that a block reads, in the order of their first reads. */
    private static List<String> readFromOutside(Block block) {
        Set<String> names = new LinkedHashSet<>();
        collect(block, block, names);
        return List.copyOf(names);
    }

    private static void collect(Block outermost, Block block, Set<String> names) {
        Set<String> written = new LinkedHashSet<>();
        for (OpDesc op : block.ops()) {
            for (String name : op.inputNames()) {
                if (!written.contains(name) && isOutside(outermost, block, name)) {
                    names.add(name);
                }
            }
            op.attributes()
                    .forEach(each -> each.value().blocks()
                            .forEach(index -> collect(outermost, block.program().block(index), names)));
            written.addAll(op.outputNames());
        }
    }

    private static boolean isOutside(Block outermost, Block block, String name) {
        Block owner = block.owner(name);
        for (Block each = outermost; owner != null; each = each.program().block(each.parent())) {
            if (each.parent() == Block.NONE) {
                return owner.index() == each.index();
            }
            if (each.parent() == owner.index()) {
                return true;
            }
        }
        return false;
    }

    private static Set<String> writtenOutside(Block block) {
        Set<String> names = new LinkedHashSet<>();
        block.ops()
                .forEach(op -> op.outputNames().stream().filter(name -> block.var(name) == null).forEach(names::add));
        return names;
    }

    /** A loop overwrites its variables. A variable whose first value is needed after the loop is copied first. */
    private static List<Value> variables(Graph graph, List<Value> initial) {
        List<Value> variables = new ArrayList<>();
        for (Value each : initial) {
            variables.add(variables.contains(each) || isWantedElsewhere(graph, each) ? each.assign() : each);
        }
        return variables;
    }

    private static boolean isWantedElsewhere(Graph graph, Value value) {
        Block block = graph.block();
        VarDesc desc = block.var(value.name());
        // A stopped variable is copied, since the loop's variable may need a gradient: the body decides.
        if (desc == null || desc.isTrained() || graph.flow().isStopped(value.name())) {
            return true;
        }
        boolean flows = value.dtype().isDifferentiable();
        return block.ops().stream().anyMatch(op -> (flows && op.inputNames().contains(value.name()))
                ? GradientPruning.carries(op)
                : GradientReads.mayRead(block.program(), op, value.name()));
    }

    static List<Value> whileLoop(Graph graph, Graph.LoopFunction condition, Graph.LoopFunction body,
            List<Value> given) {
        if (given.isEmpty()) {
            throw new IllegalArgumentException(
                    "A loop has at least one variable; without, its condition could not change");
        }
        List<Value> initial = variables(graph, visible(graph, given, "The first step of a loop"));
        Value first = single(visible(graph, condition.apply(initial), "The condition of a loop"));
        checkCondition(first);
        Block outer = graph.block();
        Block block = graph.main().addBlock(outer.index(), null);
        graph.in(block, () -> {
            List<Value> next = new ArrayList<>(visible(graph, body.apply(initial), "The body of a loop"));
            if (next.size() != initial.size()) {
                throw new IllegalArgumentException(
                        "The body of a loop gives as many variables as it takes, but it takes " + initial.size()
                                + " and gives " + next.size());
            }
            // A variable is copied before it is overwritten if its old value becomes that of another variable.
            for (int i = 0; i < next.size(); i++) {
                Value each = next.get(i);
                next.set(i, initial.contains(each) && !each.equals(initial.get(i)) ? each.assign() : each);
            }
            Value again = single(visible(graph, condition.apply(next), "The condition of a loop"));
            for (int i = 0; i < next.size(); i++) {
                if (!next.get(i).equals(initial.get(i))) {
                    assign(graph, block, next.get(i), initial.get(i));
                }
            }
            assign(graph, block, again, first);
            return next;
        });
        graph.flow().ofLoop(block);
        String scopes = graph.names().next("_generated_var");
        outer.put(new VarDesc(scopes, new VarType.Other(VarType.STEP_SCOPES), null, null, null, null));
        Set<String> read = new LinkedHashSet<>(readFromOutside(block));
        Set<String> written = writtenOutside(block);
        read.addAll(written);
        read.remove(first.name());
        outer.add(Appender.complete(
                OpDesc.of("while").in("X", read).in("Condition", first.name()).out("Out", written)
                        .out("StepScopes", scopes)
                        .attr("sub_block", block).attr("is_test", false).attr("skip_eager_deletion_vars", new String[0])
                        .build(),
                graph.role()));
        return initial;
    }

    private static Value single(List<Value> values) {
        if (values.size() != 1) {
            throw new IllegalArgumentException(
                    "The condition of a loop is one variable, but there are " + values.size());
        }
        return values.getFirst();
    }

    private static void assign(Graph graph, Block block, Value from, Value to) {
        if (from.dtype() != to.dtype() || from.rank() != to.rank()) {
            throw new IllegalArgumentException(
                    "A loop's variable keeps its type and rank, but '" + to.name() + "' is " + to.type()
                            + " before and " + from.type() + " after a step");
        }
        block.add(Appender.complete(OpDesc.of("assign").in("X", from.name()).out("Out", to.name()).build(),
                graph.role()));
        // A dimension that changes from step to step is unknown after the last step.
        VarType.TensorType type = merged(to.type(), from.type());
        Block owner = block.owner(to.name());
        if (owner != null && !to.type().equals(type)) {
            owner.put(owner.get(to.name()).with(new VarType.Dense(type, null)));
        }
    }
}

package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** The step of a recurrent network, which is run for each index of the first dimension of its inputs. */
public final class StaticRnn {
    private final Graph graph;
    private final Block outer;
    private final Block block;
    private final List<String> inputs = new ArrayList<>();
    private final List<String> initial = new ArrayList<>();
    private final List<String> before = new ArrayList<>();
    private final List<String> after = new ArrayList<>();
    private final List<Value> outputs = new ArrayList<>();
    private final String layer;
    private long length = -1;
    private boolean ended;

    private StaticRnn(Graph graph) {
        this.graph = graph;
        this.outer = graph.block();
        this.block = graph.main().addBlock(outer.index(), null);
        this.layer = graph.names().next("rnn");
    }

    static List<Value> define(Graph graph, Consumer<StaticRnn> definition) {
        StaticRnn rnn = new StaticRnn(graph);
        graph.in(rnn.block, () -> {
            definition.accept(rnn);
            return rnn;
        });
        return rnn.append();
    }

    /**
     * An input: one index of its first dimension in each step.
     *
     * @param sequence
     *            [steps, ...]
     * @return what a step has of it
     */
    public Value step(Value sequence) {
        checkOutside(sequence);
        VarType.TensorType type = sequence.type();
        if (type.dims().isEmpty()) {
            throw new IllegalArgumentException(
                    "The input '" + sequence.name()
                            + "' of a recurrent network needs the steps as its first dimension");
        }
        long steps = type.dims().getFirst();
        if (length >= 0 && steps >= 0 && steps != length) {
            throw new IllegalArgumentException(
                    "All inputs of a recurrent network have as many steps, but '" + sequence.name() + "' is " + type
                            + " and has " + steps + " where others have " + length);
        }
        length = Math.max(length, steps);
        inputs.add(sequence.name());
        // The step's variable has the name of the sequence, as in Paddle.
        block.put(VarDesc.of(sequence.name(),
                new VarType.Dense(new VarType.TensorType(type.dataType(), type.dims().subList(1, type.dims().size())),
                        null)));
        return graph.value(sequence.name());
    }

    /**
     * A state: the value from the previous step, and an initial value in the first step.
     *
     * @param first
     *            the initial value
     * @return what the step before left
     */
    public Value state(Value first) {
        checkOutside(first);
        String name = graph.names().next(layer + ".mem");
        block.put(VarDesc.of(name, new VarType.Dense(first.type(), null)));
        initial.add(first.name());
        before.add(name);
        after.add("");
        return graph.value(name);
    }

    /**
     * Sets the value of a state in the next step.
     *
     * @param state
     *            of {@link #state}
     * @param next
     *            its next value
     */
    public void update(Value state, Value next) {
        checkOpen();
        state.check(graph);
        int at = before.indexOf(state.name());
        if (at < 0) {
            throw new IllegalArgumentException(
                    "'" + state.name() + "' is no state of this recurrent network; make it with state(...)");
        }
        if (!after.get(at).isEmpty()) {
            throw new IllegalArgumentException(
                    "State '" + state.name() + "' of a recurrent network has its next value already; call update(...)"
                            + " once for each state");
        }
        checkFits(state, next);
        after.set(at, handedOn(next).name());
    }

    /**
     * Each result of a step has a variable of its own, so that its gradient from outside is not added to a gradient
     * that the step computes for the same variable.
     */
    private Value handedOn(Value value) {
        value.check(graph);
        String name = graph.names().next(layer + ".tmp");
        block.put(VarDesc.of(name, new VarType.Dense(value.type(), null)).stopping(value.stopsGradient()));
        block.add(Appender.complete(OpDesc.of("rnn_memory_helper").in("X", value.name()).out("Out", name)
                .attr("dtype", value.type().dataType()).build(), graph.role()));
        return graph.value(name);
    }

    /**
     * An output of the network.
     *
     * @param value
     *            what a step computes
     */
    public void output(Value value) {
        checkOpen();
        outputs.add(handedOn(value));
    }

    private void checkOpen() {
        if (ended) {
            throw new IllegalStateException(
                    "The recurrent network '" + layer
                            + "' is complete; a StaticRnn is used only inside of staticRnn(...)");
        }
    }

    private static void checkFits(Value state, Value next) {
        boolean fits = state.dtype() == next.dtype() && state.rank() == next.rank();
        for (int i = 0; fits && i < state.rank(); i++) {
            fits = state.dim(i) < 0 || next.dim(i) < 0 || state.dim(i) == next.dim(i);
        }
        if (!fits) {
            throw new IllegalArgumentException(
                    "A state of a recurrent network keeps its type and shape, but '" + state.name() + "' is "
                            + state.type() + " before and " + next.type() + " after a step");
        }
    }

    private void checkOutside(Value value) {
        checkOpen();
        value.check(graph);
        if (block.var(value.name()) != null) {
            throw new IllegalArgumentException(
                    "'" + value.name() + "' is computed in each step of a recurrent network; its sequences and"
                            + " first states are computed before: make it outside of staticRnn(...)");
        }
    }

    private List<Value> append() {
        ended = true;
        if (inputs.isEmpty() || outputs.isEmpty()) {
            throw new IllegalArgumentException(
                    "A recurrent network needs an "
                            + (inputs.isEmpty() ? "input: call step(...)" : "output: call output(...)"));
        }
        if (after.contains("")) {
            throw new IllegalArgumentException(
                    "Each state of a recurrent network needs its next value: call update(...) for "
                            + before.get(after.indexOf("")));
        }
        checkWrites();
        List<String> outs = new ArrayList<>();
        for (Value output : outputs) {
            // As with inputs, the sequence outside has the step's name.
            List<Long> dims = new ArrayList<>(output.type().dims());
            dims.addFirst(length);
            outer.put(VarDesc.of(output.name(),
                    new VarType.Dense(new VarType.TensorType(output.type().dataType(), dims), null)));
            outs.add(output.name());
        }
        String scopes = graph.names().next("_generated_var");
        outer.put(new VarDesc(scopes, new VarType.Other(VarType.STEP_SCOPES), null, null, null, null));
        outer.add(Appender.complete(OpDesc.of("recurrent").in("inputs", inputs).in("initial_states", initial)
                .in("parameters", parameters())
                .out("outputs", outs).out("step_scopes", scopes).attr("has_states", !before.isEmpty())
                .attr("ex_states", before.toArray(String[]::new)).attr("states", after.toArray(String[]::new))
                .attr("sub_block", block)
                .attr("reverse", false).attr("is_train", true).attr("skip_eager_deletion_vars", new String[0]).build(),
                graph.role()));
        return outs.stream().map(graph::value).toList();
    }

    /** Refuses writes to outer variables that are not persistable: no gradient would flow through them. */
    private void checkWrites() {
        for (OpDesc op : block.ops()) {
            for (String name : op.outputNames()) {
                VarDesc desc = block.find(name);
                if (block.var(name) == null && desc != null && !desc.isPersistable()) {
                    throw new IllegalArgumentException("A step of the recurrent network '" + layer + "' writes '" + name
                            + "' (operation '" + op.type()
                            + "'), which was made outside of it: make it a state, or an output");
                }
            }
        }
    }

    private Set<String> parameters() {
        Set<String> known = new TreeSet<>(before);
        known.addAll(inputs);
        Set<String> names = new LinkedHashSet<>();
        for (OpDesc op : block.ops()) {
            op.inputNames().stream().filter(name -> !known.contains(name) && block.var(name) == null)
                    .forEach(names::add);
            known.addAll(op.outputNames());
        }
        return names;
    }
}

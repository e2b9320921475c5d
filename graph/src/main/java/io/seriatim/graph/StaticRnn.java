package io.seriatim.graph;

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
    private long length = -1;

    private StaticRnn(Graph graph) {
        this.graph = graph;
        this.outer = graph.block();
        this.block = graph.main().addBlock(outer.index(), null);
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
                    "The input '" + sequence.name() + "' of a recurrent network needs the steps as its first dimension");
        }
        length = Math.max(length, type.dims().getFirst());
        inputs.add(sequence.name());
        // The step's variable has the name of the sequence, as in Paddle.
        block.put(VarDesc.of(sequence.name(),
                new VarType.Dense(new VarType.TensorType(type.dataType(), type.dims().subList(1, type.dims().size())), null)));
        return graph.value(sequence.name());
    }

    /**
     * A state: what the step before left, and at first an initial value.
     *
     * @param first
     *            the initial value
     * @return what the step before left
     */
    public Value state(Value first) {
        checkOutside(first);
        String name = graph.names().next(graph.names().next("rnn") + ".mem");
        block.put(VarDesc.of(name, new VarType.Dense(first.type(), null)));
        initial.add(first.name());
        before.add(name);
        after.add("");
        return graph.value(name);
    }

    /**
     * What a step leaves to the next one.
     *
     * @param state
     *            of {@link #state}
     * @param next
     *            its next value
     */
    public void update(Value state, Value next) {
        int at = before.indexOf(state.name());
        if (at < 0) {
            throw new IllegalArgumentException("'" + state.name() + "' is no state of this recurrent network; make it with state(...)");
        }
        after.set(at, handedOn(next).name());
    }

    /**
     * What leaves a step has a variable of its own: gradients that come in from outside must not meet those that the step itself computes for the same variable.
     */
    private Value handedOn(Value value) {
        String name = graph.names().next(graph.names().next("rnn") + ".tmp");
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
        outputs.add(handedOn(value));
        outputs.add(kept(value.name()));
    }

    /** What leaves a step has a name of its own, so that the gradient that comes in for it is summed with what the step's own operations give. */
    private Value kept(String name) {
        String copy = graph.names().next("rnn.tmp");
        Appender.append(block, OpDesc.of("rnn_memory_helper").in("X", name).out("Out", copy)
                .attr("dtype", block.get(name).tensor().dataType()).build(), graph.role());
        return graph.value(copy);
    }

    private void checkOutside(Value value) {
        if (block.var(value.name()) != null) {
            throw new IllegalArgumentException("'" + value.name() + "' is computed in each step of a recurrent network; its sequences and"
                    + " first states are computed before: make it outside of staticRnn(...)");
        }
    }

    private List<Value> append() {
        if (inputs.isEmpty() || after.contains("")) {
            throw new IllegalArgumentException(inputs.isEmpty()
                    ? "A recurrent network needs an input: call step(...)"
                    : "Each state of a recurrent network needs its next value: call update(...) for " + before.get(after.indexOf("")));
        }
        after.replaceAll(name -> kept(name).name());
        List<String> outs = new ArrayList<>();
        for (Value output : outputs) {
            // As with inputs, the sequence outside has the step's name.
            List<Long> dims = new ArrayList<>(output.type().dims());
            dims.addFirst(length);
            outer.put(VarDesc.of(output.name(), new VarType.Dense(new VarType.TensorType(output.type().dataType(), dims), null)));
            outs.add(output.name());
        }
        String scopes = graph.names().next("_generated_var");
        outer.put(new VarDesc(scopes, new VarType.Other(VarType.STEP_SCOPES), null, null, null, null));
        outer.add(Appender.complete(OpDesc.of("recurrent").in("inputs", inputs).in("initial_states", initial).in("parameters", parameters())
                .out("outputs", outs).out("step_scopes", scopes).attr("has_states", !before.isEmpty())
                .attr("ex_states", before.toArray(String[]::new)).attr("states", after.toArray(String[]::new)).attr("sub_block", block)
                .attr("reverse", false).attr("is_train", true).attr("skip_eager_deletion_vars", new String[0]).build(), graph.role()));
        return outs.stream().map(graph::value).toList();
    }

    private Set<String> parameters() {
        Set<String> known = new TreeSet<>(before);
        known.addAll(inputs);
        Set<String> names = new LinkedHashSet<>();
        for (OpDesc op : block.ops()) {
            op.inputNames().stream().filter(name -> !known.contains(name) && block.var(name) == null).forEach(names::add);
            known.addAll(op.outputNames());
        }
        return names;
    }
}

package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Ranges;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An operation that is being added to a {@link Graph}: any type, with any slots and attributes. Single use. */
public final class GraphOp {
    private static final int MOST = 100_000;

    private final Graph graph;
    private final String type;
    private final OpDesc.Builder desc;
    private final Map<String, List<Value>> inputs = new LinkedHashMap<>();
    private String key;
    private @Nullable String prefix;
    private boolean sugar;
    private boolean bare;
    private boolean added;
    private final Set<String> stopping = new HashSet<>();

    GraphOp(Graph graph, String type) {
        this.graph = graph;
        this.type = type;
        this.key = type;
        this.desc = OpDesc.of(type);
    }

    /**
     * The variables of an input slot.
     *
     * @param slot
     *            its name
     * @param values
     *            the variables
     * @return this
     */
    public GraphOp in(String slot, Value... values) {
        return in(slot, Arrays.asList(values));
    }

    /**
     * The variables of an input slot.
     *
     * @param slot
     *            its name
     * @param values
     *            the variables
     * @return this
     */
    public GraphOp in(String slot, List<Value> values) {
        for (Value value : values) {
            if (value == null) {
                throw new IllegalArgumentException(
                        "Slot " + slot + " of operation '" + type + "' takes variables, but one is null");
            }
            value.checkVisible(graph);
        }
        inputs.put(slot, List.copyOf(values));
        desc.in(slot, values.stream().map(Value::name).toList());
        return this;
    }

    /**
     * A variable of an optional input slot.
     *
     * @param slot
     *            its name
     * @param value
     *            the variable, or null for none
     * @return this
     */
    public GraphOp maybe(String slot, @Nullable Value value) {
        return value == null ? in(slot) : in(slot, value);
    }

    /**
     * An attribute.
     *
     * @param name
     *            its name
     * @param value
     *            see {@link Attribute#of}
     * @return this
     */
    public GraphOp attr(String name, Object value) {
        if (value == null) {
            throw new IllegalArgumentException(
                    "Attribute '" + name + "' of operation '" + type
                            + "' has a value, but null is given; leave it out for its default");
        }
        desc.attr(name, value);
        return this;
    }

    /**
     * The key by which results are named; the operation's type unless given.
     *
     * @param name
     *            for instance {@code linear}: results are {@code linear_0.tmp_0} and so on
     * @return this
     */
    public GraphOp key(String name) {
        key = name;
        return this;
    }

    /** Results belong to a layer's call, which may consist of several operations. */
    GraphOp call(String name) {
        prefix = name;
        return this;
    }

    /** Results are named as Paddle names those of operators: {@code tmp_0}. */
    GraphOp sugar() {
        sugar = true;
        return this;
    }

    /** Results are named by the key alone: {@code elementwise_sub_0}. */
    GraphOp bare() {
        bare = true;
        return this;
    }

    private String fresh() {
        if (sugar) {
            return graph.names().next("tmp");
        }
        if (bare) {
            return graph.names().next(key);
        }
        if (prefix == null) {
            prefix = graph.names().next(key);
        }
        return graph.names().next(prefix + ".tmp");
    }

    /** Outputs through which no gradient flows: statistics that only the gradient reads. */
    GraphOp stops(String... slots) {
        stopping.addAll(List.of(slots));
        return this;
    }

    /**
     * Adds the operation.
     *
     * @param slot
     *            an output slot of one variable
     * @return what it computes there
     */
    public Value one(String slot) {
        return all(slot).getFirst();
    }

    /**
     * Adds the operation.
     *
     * @param slots
     *            output slots of one variable each, in the order in which the variables get their names
     * @return what it computes there, in this order
     */
    public List<Value> all(String... slots) {
        List<String> names = Arrays.stream(slots).map(_ -> fresh()).toList();
        for (int i = 0; i < slots.length; i++) {
            desc.out(slots[i], names.get(i));
        }
        return append(names);
    }

    /**
     * Adds the operation.
     *
     * @param slot
     *            an output slot of several variables
     * @param count
     *            how many
     * @return what it computes there
     */
    public List<Value> list(String slot, int count) {
        if (count < 0 || count > MOST) {
            throw new IllegalArgumentException(
                    "Operation '" + type + "' has from 0 to " + MOST + " variables in slot " + slot + ", but not "
                            + count);
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add(fresh());
        }
        desc.out(slot, names);
        return append(names);
    }

    /** The outputs of rnn: the sequence, the states, and the values that only its gradient reads. */
    List<Value> recurrent(String layer, int states) {
        List<String> named = new ArrayList<>();
        for (int i = 0; i < states + 2; i++) {
            named.add(fresh());
        }
        String dropout = layer + ".dropout_state__non_persistable";
        desc.out("Out", named.getFirst()).out("State", named.subList(1, 1 + states)).out("Reserve", named.getLast())
                .out("DropoutState",
                        dropout);
        // The operation sets the types of these outputs.
        graph.block().put(VarDesc.of(named.getLast(), VarType.dense(DType.UINT8)))
                .put(VarDesc.of(dropout, VarType.dense(DType.UINT8)));
        return append(named).subList(0, states + 1);
    }

    /**
     * A variable that the operation writes, which is there already.
     *
     * @param slot
     *            the output slot
     * @param value
     *            the variable
     * @return this
     */
    public GraphOp to(String slot, Value value) {
        desc.out(slot, value.name());
        return this;
    }

    /** Adds the operation, whose outputs are all given. */
    public void append() {
        append(List.of());
    }

    private OpDesc checked(Operation schema) {
        graph.checkOpen();
        if (added) {
            throw new IllegalStateException("Operation '" + type + "' is added already; begin another with op(...)");
        }
        added = true;
        OpDesc op = desc.build();
        if (op.outputNames().isEmpty() && !schema.outputs().isEmpty()) {
            throw new IllegalArgumentException(
                    "Operation '" + type + "' writes to none of its slots " + schema.outputs()
                            + "; name those that are wanted");
        }
        checkSlots("input", op.inputs().keySet(), schema.inputs());
        checkSlots("output", op.outputs().keySet(), schema.outputs());
        return typed(op, schema);
    }

    /** Java's decimal numbers are float64, Paddle's attributes mostly float32. */
    private OpDesc typed(OpDesc op, Operation schema) {
        OpDesc typed = op;
        for (Attribute.Named each : op.attributes()) {
            AttributeSpec spec = schema.attribute(each.name());
            if (spec == null && !Roles.ALL.contains(each.name()) && !each.name().equals(Roles.PRIORITY)) {
                throw new IllegalArgumentException(
                        "Operation '" + type + "' has no attribute '" + each.name() + "'; it has "
                                + schema.attributes().stream().map(AttributeSpec::name).sorted().toList());
            }
            if (spec != null && spec.type() == Attribute.Real.class
                    && each.value() instanceof Attribute.Float64(double number)) {
                typed = typed.with(each.name(),
                        Ranges.float32("Attribute '" + each.name() + "' of operation '" + type + "'", number));
            }
        }
        return typed;
    }

    private void checkSlots(String which, Set<String> given, List<Slot> there) {
        for (String slot : given) {
            if (there.stream().noneMatch(each -> each.name().equals(slot))) {
                throw new IllegalArgumentException(
                        "Operation '" + type + "' has no " + which + " slot " + slot + "; it has " + there);
            }
        }
    }

    private List<Value> append(List<String> names) {
        Operation schema = Operations.system().get(type);
        for (Slot slot : schema.inputs()) {
            // Paddle writes optional slots, too.
            if (slot.optional() && !inputs.containsKey(slot.name())) {
                desc.in(slot.name());
            }
        }
        boolean stops = inputs.values().stream().flatMap(List::stream).allMatch(Value::stopsGradient);
        Block block = graph.block();
        OpDesc op = Appender.append(block, checked(schema), graph.role());
        Set<String> stopped = new HashSet<>();
        stopping.forEach(slot -> stopped.addAll(op.output(slot)));
        stopped.forEach(graph.flow()::stop);
        for (String name : names) {
            VarDesc written = block.get(name);
            VarType.TensorType tensor = written.type().tensorType();
            boolean discrete = tensor != null && DataTypes.find(tensor.dataType()) != null
                    && !tensor.dtype().isDifferentiable();
            block.put(written.stopping(stops || discrete || stopped.contains(name) || written.stopsGradient()));
        }
        if (names.size() < op.outputNames().size()) {
            graph.flow().through(block, op);
        }
        return names.stream().map(graph::value).toList();
    }
}

package io.seriatim.onnx.emit;

import io.seriatim.graph.dialect.TargetSchema;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A graph that is being written. Values are assigned once: a variable that operations overwrite stands for a new value
 * each time. Values get the names of their variables when the graph ends, where these are free.
 */
public final class OutGraph {
    private static final String TEMPORARY = "~";

    private final @Nullable OutGraph parent;
    private final int opset;
    private final Names names;
    private final List<OutNode> nodes = new ArrayList<>();
    private final Map<String, Tensor> initializers = new LinkedHashMap<>();
    private final Map<String, OutValue> inputs = new LinkedHashMap<>();
    private final Map<String, OutValue> outputs = new LinkedHashMap<>();
    private final Map<String, String> current = new HashMap<>();
    private final Map<List<Object>, String> constants = new HashMap<>();
    private final Map<String, DType> types = new HashMap<>();

    /**
     * An input or output.
     *
     * @param dtype
     *            the type of its elements
     * @param dims
     *            its dimensions, −1 where unknown; null if even their number is not known
     * @param names
     *            the names of unknown dimensions, empty where one has none; an empty list if none has
     */
    record OutValue(DType dtype, @Nullable List<Long> dims, List<String> names) {
        OutValue(DType dtype, @Nullable List<Long> dims) {
            this(dtype, dims, List.of());
        }

        /** The name of a dimension; empty if it has none. */
        String name(int axis) {
            return axis < names.size() ? names.get(axis) : "";
        }
    }

    /** The names of a graph and of all graphs that its nodes run. */
    private static final class Names {
        private final Set<String> taken = new HashSet<>();
        private final Set<String> temporary = new HashSet<>();
        /** Names that temporary ones are replaced by if they are free at the end. */
        private final Map<String, String> wishes = new LinkedHashMap<>();
        /** Names that temporary ones are replaced by. */
        private final Map<String, String> forced = new HashMap<>();
        /** Values that hold the same numbers in another type, by their conversions. */
        private final Map<String, String> originals = new HashMap<>();
        private long count;

        String fresh() {
            String name;
            do {
                name = TEMPORARY + count++;
            } while (!taken.add(name));
            temporary.add(name);
            return name;
        }
    }

    /** Creates the graph of a model, of operators of a version. */
    public OutGraph(int opset) {
        this.opset = opset;
        parent = null;
        names = new Names();
    }

    private OutGraph(OutGraph parent) {
        this.parent = parent;
        this.opset = parent.opset;
        this.names = parent.names;
    }

    /** Creates a graph that a node of this one will run; it sees the values of this one. */
    public OutGraph child() {
        return new OutGraph(this);
    }

    /** An input of the model or of a graph that a node runs. */
    public String input(String variable, DType dtype, long @Nullable [] dims) {
        String name = names.taken.add(variable) ? variable : names.fresh();
        inputs.put(name, new OutValue(dtype, list(dims)));
        types.put(name, dtype);
        current.put(variable, name);
        return name;
    }

    /** An input that is no variable, of a graph that a node runs. Its name is a wish. */
    public void unused(String wish, DType dtype, long[] dims) {
        String name = names.fresh();
        inputs.put(name, new OutValue(dtype, list(dims)));
        names.wishes.put(name, wish);
    }

    /** An input of the model whose unknown dimensions have names, empty where one has none. */
    public void input(String variable, DType dtype, long[] dims, List<String> symbols) {
        String name = input(variable, dtype, dims);
        inputs.put(name, new OutValue(dtype, list(dims), symbols));
    }

    private static @Nullable List<Long> list(long @Nullable [] dims) {
        if (dims == null) {
            return null;
        }
        List<Long> list = new ArrayList<>();
        for (long dim : dims) {
            list.add(dim);
        }
        return list;
    }

    /** A parameter, which keeps its name. */
    public void parameter(String variable, Tensor value) {
        names.taken.add(variable);
        initializers.put(variable, value);
        types.put(variable, value.dtype());
        current.put(variable, variable);
    }

    /** The name of an output, which nothing that is written from now on gets. */
    public void reserve(String name) {
        names.taken.add(name);
    }

    /** A constant without a variable; equal small ones are the same. */
    public String constant(Tensor value) {
        if (parent != null) {
            return parent.constant(value);
        }
        boolean small = value.shape().size() <= 16 && !value.dtype().isComplex();
        List<Object> key = small
                ? List.of(value.dtype(), value.shape(), numbers(value))
                : List.of(names.fresh());
        return constants.computeIfAbsent(key, _ -> {
            String name = names.fresh();
            initializers.put(name, value);
            types.put(name, value.dtype());
            return name;
        });
    }

    private static List<Object> numbers(Tensor value) {
        List<Object> numbers = new ArrayList<>();
        if (value.dtype().isFloating()) {
            for (double each : value.toDoubleArray()) {
                numbers.add(each);
            }
        } else {
            for (long each : value.toLongArray()) {
                numbers.add(each);
            }
        }
        return numbers;
    }

    /** The value of a variable at this place of the program. */
    public String get(String variable) {
        String found = find(variable);
        if (found == null) {
            throw new IllegalArgumentException("variable '" + variable
                    + "' is read before anything writes it: it is neither fed nor a parameter");
        }
        return found;
    }

    /** The value of a variable at this place of the program; null if it has none. */
    public @Nullable String find(String variable) {
        String here = current.get(variable);
        return here == null && parent != null ? parent.find(variable) : here;
    }

    /** A parameter or constant; null if the value is computed. */
    public @Nullable Tensor tensor(String value) {
        Tensor here = initializers.get(value);
        return here == null && parent != null ? parent.tensor(value) : here;
    }

    /** Records that a value holds the numbers of another one in another type. */
    public void converted(String value, String original) {
        names.originals.put(value, original);
    }

    /** The value of which another one is a conversion; null if it is none. */
    public @Nullable String original(String value) {
        return names.originals.get(value);
    }

    /** A variable has a new value from here on. */
    public void set(String variable, String value) {
        current.put(variable, value);
        if (names.temporary.contains(value)) {
            names.wishes.putIfAbsent(value, variable);
        }
    }

    /** The type of a value's elements; null if it is not known. */
    public @Nullable DType type(String value) {
        DType here = types.get(value);
        return here == null && parent != null ? parent.type(value) : here;
    }

    private TargetSchema.Use use(String type, List<String> operands, Map<String, Object> attributes) {
        Map<String, TargetSchema.Value> values = new TreeMap<>();
        attributes.forEach((name, value) -> values.put(name, OnnxSchema.value(value)));
        return new TargetSchema.Use(type, opset, OnnxSchema.get().bySlot(type, opset,
                operands.stream().map(value -> new TargetSchema.Operand(value, type(value))).toList()), null, values);
    }

    /** What ONNX does not have of a node. */
    List<String> problems(String type, List<String> operands, Map<String, Object> attributes) {
        TargetSchema.Use use = use(type, operands, attributes);
        List<String> problems = new ArrayList<>(OnnxSchema.get().problems(use));
        DType made = result(use, 0, attributes);
        if (made != null) {
            problems.addAll(OnnxSchema.get().problems(use, 0, made));
        }
        return problems;
    }

    /** The output of the graph that a node runs which is a result of the node. */
    private static @Nullable DType ofInner(String type, int result, Map<String, Object> attributes) {
        for (Object attribute : attributes.values()) {
            if (attribute instanceof OutGraph inner) {
                List<OutValue> outputs = List.copyOf(inner.outputs.values());
                int at = result + (type.equals("Loop") ? 1 : 0);
                return at < outputs.size() ? outputs.get(at).dtype() : null;
            }
        }
        return null;
    }

    private @Nullable DType result(TargetSchema.Use use, int result, Map<String, Object> attributes) {
        DType follows = OnnxSchema.get().result(use, result);
        Object named = attributes.get(use.type().equals("Cast") ? "to" : "dtype");
        if (follows != null || named == null) {
            return follows != null
                    ? follows
                    : attributes.get("value") instanceof Tensor value
                            ? value.dtype()
                            : ofInner(use.type(), result, attributes);
        }
        return named instanceof Number number ? ElementTypes.find(number.longValue()) : null;
    }

    /** Appends a node; its results by new names. */
    public List<String> node(String type, List<String> operands, int results, Map<String, Object> attributes) {
        List<String> made = new ArrayList<>();
        TargetSchema.Use use = use(type, operands, attributes);
        for (int i = 0; i < results; i++) {
            String name = names.fresh();
            DType dtype = result(use, i, attributes);
            if (dtype != null) {
                types.put(name, dtype);
            }
            made.add(name);
        }
        nodes.add(new OutNode(type, List.copyOf(operands), made, new TreeMap<>(attributes)));
        return made;
    }

    /** An output of a graph that a node runs. */
    public void output(String value, DType dtype, long @Nullable [] dims) {
        // A value of a graph around this one, and one that stands twice, cannot be outputs.
        boolean own = nodes.stream().anyMatch(node -> node.outputs().contains(value)) && !outputs.containsKey(value);
        outputs.put(own ? value : node("Identity", List.of(value), 1, Map.of()).getFirst(),
                new OutValue(dtype, list(dims)));
    }

    /** An output of the model, whose name is {@linkplain #reserve reserved}. */
    public void output(String variable, String name, DType dtype, long[] dims) {
        String value = get(variable);
        boolean same = value.equals(name);
        if (same || (names.temporary.contains(value) && !initializers.containsKey(value) && !outputs.containsKey(name)
                && !taken(name) && names.forced.putIfAbsent(value, name) == null)) {
            outputs.put(name, new OutValue(dtype, list(dims)));
            return;
        }
        nodes.add(new OutNode("Identity", List.of(value), List.of(name), Map.of()));
        outputs.put(name, new OutValue(dtype, list(dims)));
    }

    private boolean taken(String name) {
        return inputs.containsKey(name) || initializers.containsKey(name);
    }

    /** The names that values get at the end. */
    Map<String, String> renamed() {
        Map<String, String> renamed = new HashMap<>(names.forced);
        names.wishes.forEach((value, name) -> {
            if (!renamed.containsKey(value) && names.taken.add(name)) {
                renamed.put(value, name);
            }
        });
        return renamed;
    }

    List<OutNode> nodes() {
        return nodes;
    }

    /** Removes nodes whose results nothing reads, here and in the graphs that nodes run. */
    void prune() {
        Set<String> read = new HashSet<>(outputs.keySet());
        outputs.keySet().forEach(name -> names.forced.forEach((value, output) -> {
            if (output.equals(name)) {
                read.add(value);
            }
        }));
        List<OutNode> kept = new ArrayList<>();
        for (OutNode node : nodes.reversed()) {
            if (node.outputs().stream().anyMatch(read::contains)) {
                kept.add(node);
                read.addAll(node.inputs());
                for (Object attribute : node.attributes().values()) {
                    if (attribute instanceof OutGraph inner) {
                        inner.prune();
                        inner.read(read);
                    }
                }
            }
        }
        nodes.clear();
        nodes.addAll(kept.reversed());
    }

    /** The parameters and constants that a node reads. */
    Map<String, Tensor> initializers() {
        Set<String> read = new HashSet<>(outputs.keySet());
        read(read);
        Map<String, Tensor> used = new LinkedHashMap<>(initializers);
        used.keySet().retainAll(read);
        return used;
    }

    private void read(Set<String> into) {
        for (OutNode node : nodes) {
            into.addAll(node.inputs());
            for (Object attribute : node.attributes().values()) {
                if (attribute instanceof OutGraph inner) {
                    inner.read(into);
                }
            }
        }
    }

    Map<String, OutValue> inputs() {
        return inputs;
    }

    Map<String, OutValue> outputs() {
        return outputs;
    }
}

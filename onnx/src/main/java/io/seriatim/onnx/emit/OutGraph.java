package io.seriatim.onnx.emit;

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
    private final Set<String> names;
    private final List<OutNode> nodes = new ArrayList<>();
    private final Map<String, Tensor> initializers = new LinkedHashMap<>();
    private final Map<String, OutValue> inputs = new LinkedHashMap<>();
    private final Map<String, OutValue> outputs = new LinkedHashMap<>();
    private final Map<String, String> current = new HashMap<>();
    private final Map<String, String> wishes;
    private final Map<String, String> forced = new HashMap<>();
    private final Map<List<Object>, String> constants = new HashMap<>();

    /**
     * An input or output.
     *
     * @param dtype
     *            the type of its elements
     * @param dims
     *            its dimensions, −1 where unknown; null if even their number is not known
     */
    record OutValue(DType dtype, @Nullable List<Long> dims) {
    }

    /** Creates the graph of a model. */
    public OutGraph() {
        parent = null;
        names = new HashSet<>();
        wishes = new LinkedHashMap<>();
    }

    private OutGraph(OutGraph parent) {
        this.parent = parent;
        this.names = parent.names;
        this.wishes = parent.wishes;
    }

    /** Creates a graph that a node of this one will run; it sees the values of this one. */
    public OutGraph child() {
        return new OutGraph(this);
    }

    private String fresh() {
        String name;
        do {
            name = TEMPORARY + names.size();
        } while (!names.add(name));
        return name;
    }

    /** An input of the model or of a graph that a node runs. */
    public String input(String variable, DType dtype, long @Nullable [] dims) {
        String name = names.add(variable) ? variable : fresh();
        inputs.put(name, new OutValue(dtype, list(dims)));
        current.put(variable, name);
        return name;
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
        names.add(variable);
        initializers.put(variable, value);
        current.put(variable, variable);
    }

    /** A constant without a variable; equal small ones are the same. */
    public String constant(Tensor value) {
        if (parent != null) {
            return parent.constant(value);
        }
        boolean small = value.shape().size() <= 16 && !value.dtype().isComplex();
        List<Object> key = small
                ? List.of(value.dtype(), value.shape(), numbers(value))
                : List.of(fresh());
        return constants.computeIfAbsent(key, _ -> {
            String name = fresh();
            initializers.put(name, value);
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

    /** A variable has a new value from here on. */
    public void set(String variable, String value) {
        current.put(variable, value);
        if (value.startsWith(TEMPORARY)) {
            wishes.putIfAbsent(value, variable);
        }
    }

    /** Appends a node; its results by new names. */
    public List<String> node(String type, List<String> operands, int results, Map<String, Object> attributes) {
        List<String> made = new ArrayList<>();
        for (int i = 0; i < results; i++) {
            made.add(fresh());
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

    /** An output of the model, which has a name of its own. */
    public void output(String variable, String name, DType dtype, long[] dims) {
        String value = get(variable);
        boolean same = value.equals(name);
        if (same || (value.startsWith(TEMPORARY) && !initializers.containsKey(value) && !outputs.containsKey(name)
                && nodes.stream().noneMatch(node -> node.outputs().contains(name)) && !taken(name)
                && wish(value, name))) {
            outputs.put(name, new OutValue(dtype, list(dims)));
            return;
        }
        nodes.add(new OutNode("Identity", List.of(value), List.of(name), Map.of()));
        names.add(name);
        outputs.put(name, new OutValue(dtype, list(dims)));
    }

    private boolean taken(String name) {
        return inputs.containsKey(name) || initializers.containsKey(name);
    }

    /** Whether a value gets the name. */
    private boolean wish(String value, String name) {
        if (forced.containsKey(value)) {
            return false;
        }
        forced.put(value, name);
        names.add(name);
        return true;
    }

    /** The names that values get at the end. */
    Map<String, String> renamed() {
        Map<String, String> renamed = new HashMap<>(forced);
        wishes.forEach((value, name) -> {
            if (!renamed.containsKey(value) && names.add(name)) {
                renamed.put(value, name);
            }
        });
        return renamed;
    }

    List<OutNode> nodes() {
        return nodes;
    }

    /** The parameters, and the constants that a node reads. */
    Map<String, Tensor> initializers() {
        Set<String> read = new HashSet<>(outputs.keySet());
        read(read);
        Map<String, Tensor> used = new LinkedHashMap<>(initializers);
        used.keySet().removeIf(name -> name.startsWith(TEMPORARY) && !read.contains(name));
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

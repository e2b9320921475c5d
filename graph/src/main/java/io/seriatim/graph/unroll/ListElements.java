package io.seriatim.graph.unroll;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The elements of the first block's lists, as far as they are set and read at known places. */
final class ListElements {
    /** The largest place at which an element is followed. */
    private static final int MOST_PLACES = 1 << 10;
    private static final Set<String> SET = Set.of("write_to_array", "array_put", "array_add");
    private static final Set<String> READ = Set.of("read_from_array", "array_peek", "array_take");

    private final Block global;
    private final Versions versions;
    /** The variables that some operation reads, or that are fetched. */
    private final Set<String> read;
    private Map<String, Elements> lists = new HashMap<>();

    /**
     * The elements of a list.
     *
     * @param values
     *            null where there is no element
     * @param made
     *            the operation that has made the list; null if setting the first element makes it
     * @param isWritten
     *            whether the variable of the program has these elements
     * @param wasWritten
     *            whether the variable may have some elements
     */
    private record Elements(List<@Nullable Value> values, @Nullable OpDesc made, boolean isWritten,
            boolean wasWritten) {
        @Nullable
        Value at(int place) {
            return place < values.size() ? values.get(place) : null;
        }

        Elements with(int place, @Nullable Value value) {
            List<@Nullable Value> changed = new ArrayList<>(values);
            while (changed.size() <= place) {
                changed.add(null);
            }
            changed.set(place, value);
            return new Elements(changed, made, false, wasWritten);
        }

        boolean isWhole() {
            return !values.isEmpty() && !values.contains(null);
        }
    }

    ListElements(Block global, Versions versions, Collection<String> fed, Set<String> read) {
        this.global = global;
        this.versions = versions;
        this.read = read;
        for (VarDesc desc : global.vars()) {
            if (desc.type() instanceof VarType.TensorArray && !fed.contains(desc.name()) && !desc.isPersistable()) {
                lists.put(desc.name(), new Elements(List.of(), null, true, false));
            }
        }
    }

    Object mark() {
        return Map.copyOf(lists);
    }

    @SuppressWarnings("unchecked") // It is what mark has returned.
    void undo(Object mark) {
        lists = new HashMap<>((Map<String, Elements>) mark);
    }

    void forget(String name) {
        lists.remove(name);
    }

    /** Writes the elements of a list to its variable, if it is one. */
    void store(String name) {
        Elements list = lists.get(name);
        if (list == null || list.isWritten()) {
            return;
        }
        if (list.made() != null && !list.wasWritten()) {
            versions.ops().add(list.made());
        }
        for (int i = 0; i < list.values().size(); i++) {
            Value element = list.values().get(i);
            if (element != null) {
                versions.ops().add(OpDesc.of("array_put").in("X", versions.variable(element))
                        .in("I", versions.variable(Value.of(Tensor.of(new long[]{i}, 1)))).out("Out", name).build());
            }
        }
        lists.put(name, new Elements(list.values(), list.made(), true, true));
    }

    /** Follows an operation on a list whose elements are known; returns false if it is none. */
    boolean follow(OpDesc op, Variables variables) {
        String type = op.type();
        if (SET.contains(type)) {
            return set(op, variables);
        }
        if (READ.contains(type)) {
            return read(op, variables);
        }
        return switch (type) {
            case "array_new" -> make(op, variables);
            case "assign" -> copy(op, variables);
            case "lod_array_length" -> length(op, variables);
            case "tensor_array_to_tensor" -> join(op, variables);
            case "tensor_array_to_tensor_grad" -> split(op, variables);
            default -> false;
        };
    }

    private @Nullable Elements list(String name, Variables variables) {
        return variables.isOfFirst(name) ? lists.get(name) : null;
    }

    /** A place in a list; −1 if it is not known. */
    private static int place(OpDesc op, Variables variables) {
        Tensor literal = variables.value(op.input("I").getFirst()).literal();
        if (literal == null || literal.shape().size() != 1) {
            return -1;
        }
        long place = literal.toLongArray()[0];
        return place < 0 || place > MOST_PLACES ? -1 : (int) place;
    }

    private boolean make(OpDesc op, Variables variables) {
        String name = op.output("Out").getFirst();
        Elements list = list(name, variables);
        if (list == null || list.wasWritten()) {
            return false;
        }
        lists.put(name, new Elements(List.of(), op, false, false));
        return true;
    }

    private boolean set(OpDesc op, Variables variables) {
        String name = op.output("Out").getFirst();
        String from = op.input("X").getFirst();
        Elements list = list(name, variables);
        int place = list == null ? -1 : place(op, variables);
        if (list == null || place < 0 || !variables.isTensor(from)) {
            return false;
        }
        Value value = versions.kept(variables.value(from));
        Value before = list.at(place);
        boolean adds = op.type().equals("array_add")
                || (op.type().equals("write_to_array") && name.contains(GradientRule.SUFFIX));
        if (adds && before != null) {
            String first = versions.variable(before);
            String sum = versions.declare(name, global.get(first));
            versions.ops().add(OpDesc.of("sum").in("X", first, versions.variable(value)).out("Out", sum).build());
            value = Value.of(sum);
        }
        lists.put(name, list.with(place, value));
        return true;
    }

    private boolean read(OpDesc op, Variables variables) {
        String name = op.input("X").getFirst();
        Elements list = list(name, variables);
        int place = list == null ? -1 : place(op, variables);
        List<String> like = op.input("X_W");
        boolean takes = op.type().equals("array_take") || (op.type().equals("read_from_array") && !like.isEmpty());
        if (list == null || place < 0 || (takes && list.wasWritten())) {
            return false;
        }
        Value element = list.at(place);
        if (element == null) {
            if (like.isEmpty() || !variables.isTensor(like.getFirst())) {
                return false;
            }
            String of = versions.variable(versions.kept(variables.value(like.getFirst())));
            String zeros = versions.declare(name, global.get(of));
            versions.ops().add(OpDesc.of("fill_any_like").in("X", of).out("Out", zeros).attr("dtype", -1)
                    .attr("value", 0f).build());
            element = Value.of(zeros);
        } else if (takes) {
            lists.put(name, list.with(place, null));
        }
        versions.give(op.output("Out").getFirst(), element, variables);
        return true;
    }

    private boolean copy(OpDesc op, Variables variables) {
        String to = op.output("Out").getFirst();
        Elements from = list(op.input("X").getFirst(), variables);
        Elements before = list(to, variables);
        if (from == null || before == null || before.wasWritten()) {
            return false;
        }
        OpDesc made = OpDesc.of("array_new").out("Out", to).build();
        lists.put(to, new Elements(from.values(), made, false, false));
        return true;
    }

    private boolean length(OpDesc op, Variables variables) {
        Elements list = list(op.input("X").getFirst(), variables);
        if (list == null) {
            return false;
        }
        versions.give(op.output("Out").getFirst(), Value.of(Tensor.of(new long[]{list.values().size()}, 1)),
                variables);
        return true;
    }

    private static boolean stacks(OpDesc op) {
        return op.attribute("use_stack") instanceof Attribute.Bool(boolean set) && set;
    }

    private static int axis(OpDesc op) {
        return op.attribute("axis") instanceof Attribute.Int(int given) ? given : 0;
    }

    /** Joins the elements of a list by an operation on tensors. */
    private boolean join(OpDesc op, Variables variables) {
        Elements list = list(op.input("X").getFirst(), variables);
        if (list == null || !variables.isFirst() || !list.isWhole()
                || op.output("OutIndex").stream().anyMatch(read::contains)) {
            return false;
        }
        List<String> elements = list.values().stream().map(Objects::requireNonNull).map(versions::variable).toList();
        String out = op.output("Out").getFirst();
        OpDesc.Builder joined = stacks(op)
                ? OpDesc.of("stack").in("X", elements).out("Y", out)
                : OpDesc.of("concat").in("X", elements).out("Out", out);
        versions.ops().add(joined.attr("axis", axis(op)).build().builtWith(op));
        variables.forget(out);
        return true;
    }

    /** The gradient of joining: the gradients of the elements. */
    private boolean split(OpDesc op, Variables variables) {
        Elements list = list(op.input("X").getFirst(), variables);
        String to = op.output("X@GRAD").getFirst();
        Elements before = list(to, variables);
        if (list == null || before == null || before.wasWritten() || !variables.isFirst() || !list.isWhole()
                || !stacks(op)) {
            return false;
        }
        List<@Nullable Value> parts = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Value element : list.values()) {
            String own = versions.declare(to, global.get(versions.variable(Objects.requireNonNull(element))));
            names.add(own);
            parts.add(Value.of(own));
        }
        versions.ops().add(OpDesc.of("unstack").in("X", variables.latest(op.input("Out@GRAD").getFirst(), versions))
                .out("Y", names).attr("axis", axis(op)).attr("num", names.size()).build().builtWith(op));
        lists.put(to, new Elements(parts, OpDesc.of("array_new").out("Out", to).build(), false, false));
        return true;
    }
}

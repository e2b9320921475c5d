package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.ElementShapes;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.node.Node;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The variables in which branches and steps of loops pass on a value: one for a tensor, others for other values. */
sealed interface Form {
    /** One variable. */
    record OfTensor(ArgType type) implements Form {
    }

    /** One array. */
    record OfArray(DType dtype, ElementShapes shapes) implements Form {
    }

    /** Those of each element of a list that has the same length whatever happens. */
    record OfElements(DType dtype, List<Form> elements) implements Form {
    }

    /** Whether the value is there, and those of the value; null if it never is. */
    record OfOptional(DType dtype, @Nullable Form value) implements Form {
    }

    /** A truth value and a tensor for each type that the value may have. */
    record OfChoice(DType dtype, List<ArgType> types) implements Form {
        private static final int NONE = -1;

        /** Whether the form has variables for a tensor of a type. */
        boolean has(ArgType type) {
            return place(type) != NONE;
        }

        /** The choice between the results of two branches, which are tensors. */
        Ref value(Node node, Ref condition, Ref yes, Ref no, Iterator<Ref> variables) {
            List<Ref> tensors = new ArrayList<>();
            for (int i = 0; i < types.size(); i++) {
                variables.next();
                tensors.add(variables.next());
            }
            return node.lists().choice(condition, tensors.get(place(yes.type())), tensors.get(place(no.type())));
        }

        int place(ArgType type) {
            for (int i = 0; i < types.size(); i++) {
                if (alike(types.get(i), type)) {
                    return i;
                }
            }
            return NONE;
        }
    }

    /** The form of a value. */
    static Form of(Node node, Ref value) {
        return common(node, value, value);
    }

    /** The form of either of two values. */
    static Form common(Node node, Ref one, Ref other) {
        Lists lists = node.lists();
        if (one.dtype() != other.dtype()) {
            throw node.error("the outputs of both branches have one type, but are %s and %s", one.type(), other.type());
        }
        if (lists.isOptional(one) || lists.isOptional(other)) {
            Ref first = lists.value(one);
            Ref second = lists.value(other);
            Ref any = first == null ? second : first;
            return new OfOptional(one.dtype(),
                    any == null ? null : common(node, any, second == null ? any : second));
        }
        if (lists.choice(one) != null || lists.choice(other) != null
                || (Lists.isTensor(one) && Lists.isTensor(other) && !alike(one.type(), other.type()))) {
            return choice(node, one, other);
        }
        if (Lists.isTensor(one) != Lists.isTensor(other)) {
            throw node.error("one branch gives a sequence, but the other one a tensor");
        }
        if (Lists.isTensor(one)) {
            return new OfTensor(one.type());
        }
        List<Ref> elements = lists.elements(one);
        List<Ref> others = lists.elements(other);
        if (elements == null || others == null || elements.size() != others.size() || differ(elements, others)) {
            return new OfArray(one.dtype(), lists.shapes(one).and(lists.shapes(other)));
        }
        List<Form> forms = new ArrayList<>();
        for (int i = 0; i < elements.size(); i++) {
            forms.add(common(node, elements.get(i), others.get(i)));
        }
        return new OfElements(one.dtype(), forms);
    }

    private static OfChoice choice(Node node, Ref one, Ref other) {
        List<Ref> leaves = new ArrayList<>(node.lists().leaves(one));
        leaves.addAll(node.lists().leaves(other));
        List<ArgType> types = new ArrayList<>();
        for (Ref leaf : leaves) {
            if (!Lists.isTensor(leaf)) {
                throw node.error("one branch gives a sequence, but the other one a tensor");
            }
            if (types.stream().noneMatch(type -> alike(type, leaf.type()))) {
                types.add(leaf.type());
            }
        }
        return new OfChoice(one.dtype(), types);
    }

    /**
     * Whether tensors of two types can be one variable: they have one number of dimensions. Lists of sizes or axes are
     * of one length too, since it may become a number of dimensions.
     */
    static boolean alike(ArgType one, ArgType other) {
        long[] dims = one.dims();
        long[] more = other.dims();
        boolean sizes = dims.length == 1 && more.length == 1 && !one.dtype().isFloating() && dims[0] >= 0
                && more[0] >= 0 && Math.max(dims[0], more[0]) <= Shape.MAX_RANK;
        return dims.length == more.length && (!sizes || dims[0] == more[0]);
    }

    private static boolean differ(List<Ref> elements, List<Ref> others) {
        for (int i = 0; i < elements.size(); i++) {
            if (elements.get(i).rank() != others.get(i).rank()) {
                return true;
            }
        }
        return false;
    }

    /**
     * A value as the variables of the form.
     *
     * @param block
     *            where operations are appended
     * @param value
     *            null for anything, since it does not count
     */
    default List<Ref> variables(Node node, BlockBuilder block, @Nullable Ref value) {
        Lists lists = node.lists();
        if (value != null && lists.isOptional(value) && !(this instanceof OfOptional)) {
            Ref there = lists.value(value);
            if (there == null) {
                throw node.error("an optional value without element is passed on, but must be a tensor or sequence");
            }
            return variables(node, block, there);
        }
        return switch (this) {
            case OfTensor(ArgType type) -> List.of(value == null ? anything(block, type) : tensor(node, value));
            case OfArray(DType dtype, var _) ->
                List.of(lists.array(block, value == null ? lists.of(block, dtype, List.of()) : list(node, value)));
            case OfElements(DType _, List<Form> forms) -> {
                List<Ref> elements = value == null ? null : lists.elements(value);
                List<Ref> variables = new ArrayList<>();
                for (int i = 0; i < forms.size(); i++) {
                    variables.addAll(forms.get(i).variables(node, block, elements == null ? null : elements.get(i)));
                }
                yield variables;
            }
            case OfOptional(DType _, Form form) -> {
                List<Ref> variables = new ArrayList<>();
                variables.add(value == null ? block.scalar(DType.BOOL, 0) : lists.isThere(block, value));
                if (form != null) {
                    variables.addAll(form.variables(node, block, value == null ? null : lists.value(value)));
                }
                yield variables;
            }
            case OfChoice choice -> choice(node, block, choice, value);
        };
    }

    /**
     * The same of a choice: a truth value and a tensor of each type. One of the truth values is true, or none if the
     * value has another type.
     */
    private static List<Ref> choice(Node node, BlockBuilder block, OfChoice form, @Nullable Ref value) {
        @Nullable
        Ref[] flags = new @Nullable Ref[form.types.size()];
        @Nullable
        Ref[] tensors = new @Nullable Ref[form.types.size()];
        if (value != null) {
            flatten(node, block, form, value, flags, tensors);
        }
        List<Ref> variables = new ArrayList<>();
        for (int i = 0; i < flags.length; i++) {
            Ref flag = flags[i];
            Ref tensor = tensors[i];
            variables.add(flag == null ? truth(block, false) : flag);
            variables.add(tensor == null ? anything(block, form.types.get(i)) : tensor);
        }
        return variables;
    }

    private static void flatten(Node node, BlockBuilder block, OfChoice form, Ref value, @Nullable Ref[] flags,
            @Nullable Ref[] tensors) {
        Lists.Choice choice = node.lists().choice(value);
        if (choice == null) {
            int place = form.place(tensor(node, value).type());
            if (place != OfChoice.NONE) {
                flags[place] = truth(block, true);
                tensors[place] = value;
            }
            return;
        }
        flatten(node, block, form, choice.yes(), flags, tensors);
        @Nullable
        Ref[] otherFlags = new @Nullable Ref[flags.length];
        @Nullable
        Ref[] otherTensors = new @Nullable Ref[flags.length];
        flatten(node, block, form, choice.no(), otherFlags, otherTensors);
        Ref never = truth(block, false);
        Ref mask = block.cast(choice.condition(), DType.INT32);
        for (int i = 0; i < flags.length; i++) {
            Ref tensor = tensors[i];
            Ref other = otherTensors[i];
            if (tensor != null || other != null) {
                Ref yes = Objects.requireNonNullElse(flags[i], never);
                Ref no = Objects.requireNonNullElse(otherFlags[i], never);
                flags[i] = block.op("select_input").in("X", no, yes).in("Mask", mask).out("Out");
            }
            if (tensor == null) {
                tensors[i] = other;
            } else if (other != null) {
                tensors[i] = block.op("select_input").in("X", other, tensor).in("Mask", mask).out("Out");
            }
        }
    }

    private static Ref truth(BlockBuilder block, boolean value) {
        return block.cast(block.integers(DType.INT64, value ? 1 : 0), DType.BOOL);
    }

    private static Ref tensor(Node node, Ref value) {
        if (!Lists.isTensor(value)) {
            throw node.error("a sequence is passed on, but must be a tensor");
        }
        return value;
    }

    private static Ref list(Node node, Ref value) {
        if (Lists.isTensor(value)) {
            throw node.error("a tensor is passed on, but must be a sequence");
        }
        return value;
    }

    private static Ref anything(BlockBuilder block, ArgType type) {
        long[] dims = Arrays.stream(type.dims()).map(dim -> Math.max(dim, 0)).toArray();
        return block.op("fill_constant").attr("shape", dims).attr("dtype", type.dtype()).out("Out");
    }

    /** The value of variables of the form. */
    default Ref value(Node node, BlockBuilder block, Iterator<Ref> variables) {
        return switch (this) {
            case OfTensor _,OfArray _ -> variables.next();
            case OfElements(DType dtype, List<Form> forms) -> node.lists().of(block, dtype,
                    forms.stream().map(form -> form.value(node, block, variables)).toList());
            case OfOptional(DType dtype, Form form) -> {
                Ref there = variables.next();
                yield form == null
                        ? node.lists().none(dtype)
                        : node.lists().optional(there, form.value(node, block, variables));
            }
            case OfChoice(DType _, List<ArgType> types) -> {
                List<Ref> each = new ArrayList<>();
                for (int i = 0; i < 2 * types.size(); i++) {
                    each.add(variables.next());
                }
                Ref chosen = each.getLast();
                for (int i = types.size() - 2; i >= 0; i--) {
                    chosen = node.lists().choice(each.get(2 * i), each.get(2 * i + 1), chosen);
                }
                yield chosen;
            }
        };
    }

    /** The forms of the variables, in order: of tensors and arrays. */
    default List<Form> parts() {
        return switch (this) {
            case OfTensor _,OfArray _ -> List.of(this);
            case OfElements(DType _, List<Form> forms) ->
                forms.stream().flatMap(form -> form.parts().stream()).toList();
            case OfOptional(DType _, Form form) -> {
                List<Form> parts = new ArrayList<>();
                parts.add(new OfTensor(ArgType.dense(DType.BOOL)));
                if (form != null) {
                    parts.addAll(form.parts());
                }
                yield parts;
            }
            case OfChoice(DType _, List<ArgType> types) -> {
                List<Form> parts = new ArrayList<>();
                for (ArgType type : types) {
                    parts.add(new OfTensor(ArgType.dense(DType.BOOL, 1)));
                    parts.add(new OfTensor(type));
                }
                yield parts;
            }
        };
    }

    /** Copies a variable of another block to a new one. */
    static Ref copied(Node node, BlockBuilder from, Ref variable, BlockBuilder to, Form part) {
        Lists lists = node.lists();
        Ref copy = part instanceof OfArray(DType dtype, ElementShapes shapes)
                ? lists.declare(to, dtype, shapes)
                : to.declare(variable.type());
        from.op("assign").in("X", variable).to("Out", copy).append();
        return part instanceof OfArray(DType _, ElementShapes shapes) ? lists.redeclare(to, copy, shapes) : copy;
    }
}

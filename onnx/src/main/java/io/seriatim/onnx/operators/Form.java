package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.ElementShapes;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.node.Node;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
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
        };
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

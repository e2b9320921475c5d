package io.seriatim.onnx.node;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxNode;
import io.seriatim.onnx.proto.OnnxType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A node that is being translated: its operands, its attributes, and the block to which operations are appended. */
public final class Node {

    private final OnnxNode node;
    private final long version;
    private final List<@Nullable Ref> inputs;
    private final Map<String, OnnxAttribute> attributes;
    private final BlockBuilder block;
    private final Graphs graphs;

    /**
     * Creates a node.
     *
     * @param node
     *            as it is in the file
     * @param version
     *            of its domain
     * @param inputs
     *            its operands; null where an optional one is left out
     * @param attributes
     *            those of the node, in which those of a function are replaced
     * @param block
     *            where operations are appended
     * @param graphs
     *            translates graphs that it runs
     */
    public Node(OnnxNode node, long version, List<@Nullable Ref> inputs, Map<String, OnnxAttribute> attributes,
            BlockBuilder block, Graphs graphs) {
        this.node = node;
        this.version = version;
        this.inputs = inputs;
        this.attributes = attributes;
        this.block = block;
        this.graphs = graphs;
    }

    /** The operator. */
    public String type() {
        return node.type();
    }

    /** The version of the operator's domain, for instance 17. */
    public long version() {
        return version;
    }

    /** Where operations are appended. */
    public BlockBuilder block() {
        return block;
    }

    /** The same node, whose operations are appended to another block. */
    public Node in(BlockBuilder other) {
        return new Node(node, version, inputs, attributes, other, graphs);
    }

    /** Begins an operation. */
    public OpAppender op(String operation) {
        return block.op(operation);
    }

    /** The number of operands, with those that are left out. */
    public int count() {
        return inputs.size();
    }

    /** Whether there is an operand at a place. */
    public boolean has(int index) {
        return any(index) != null;
    }

    /** An operand. */
    public Ref input(int index) {
        Ref input = maybe(index);
        if (input == null) {
            throw error("needs operand %d, but has %d", index + 1, inputs.size());
        }
        return input;
    }

    /** An optional operand; null if it is left out. */
    public @Nullable Ref maybe(int index) {
        Ref input = any(index);
        return input == null ? null : tensor(index, input);
    }

    private Ref tensor(int index, Ref input) {
        if (lists().choice(input) != null) {
            throw error("the number of dimensions of operand %d depends on the condition of an If (%s), which is not "
                    + "supported here", index + 1, lists().describe(input));
        }
        if (!Lists.isTensor(input)) {
            throw error("operand %d is a %s, but a tensor is needed", index + 1,
                    lists().isOptional(input) ? "value that may be missing" : "sequence of tensors");
        }
        return input;
    }

    /** An operand of any kind: a tensor, a list or an optional value; null if it is left out. */
    public @Nullable Ref any(int index) {
        return index < inputs.size() ? inputs.get(index) : null;
    }

    /** An operand that is a list of tensors. */
    public Ref list(int index) {
        Ref input = any(index);
        if (input == null || Lists.isTensor(input) || lists().isOptional(input)) {
            throw error("operand %d must be a sequence of tensors, but is %s", index + 1,
                    input == null ? "left out" : Lists.isTensor(input) ? "a tensor" : "a value that may be missing");
        }
        return input;
    }

    /** The lists and optional values of the model. */
    public Lists lists() {
        return graphs.lists();
    }

    /** All operands from a place on, which are tensors, of which none may be left out. */
    public List<Ref> inputs(int from) {
        List<Ref> all = all(from);
        for (int i = 0; i < all.size(); i++) {
            tensor(from + i, all.get(i));
        }
        return all;
    }

    /** All operands from a place on, of any kind, of which none may be left out. */
    public List<Ref> all(int from) {
        if (from > inputs.size() || inputs.subList(from, inputs.size()).contains(null)) {
            throw error("has operands that are left out, but needs all from %d on", from + 1);
        }
        return inputs.subList(from, inputs.size()).stream().map(Objects::requireNonNull).toList();
    }

    /** The number of results, with those that are not wanted. */
    public int results() {
        return node.outputs().size();
    }

    /** Whether a result is wanted. */
    public boolean wants(int index) {
        return index < node.outputs().size() && !node.outputs().get(index).isEmpty();
    }

    /** The value of an operand if it is known while the model is translated; null otherwise or if it is left out. */
    public @Nullable Tensor value(int index) {
        Ref input = maybe(index);
        return input == null ? null : block.model().value(input);
    }

    /** The whole numbers of an operand if they are known while the model is translated; null otherwise. */
    public long @Nullable [] integers(int index) {
        Tensor value = value(index);
        if (value != null && value.dtype().isDifferentiable()) {
            throw error("operand %d has whole numbers, but its type is %s", index + 1, value.dtype());
        }
        return value == null ? null : value.toLongArray();
    }

    /** The whole numbers of an operand, which must be known while the model is translated. */
    public long[] knownIntegers(int index, String what) {
        long[] values = integers(index);
        if (values == null) {
            throw error("operand %d (%s) must be a constant, but is computed: this form is not supported", index + 1,
                    what);
        }
        return values;
    }

    /**
     * What is known of a shape that is an operand: its dimensions, −1 where unknown. Empty if even their number is
     * unknown.
     */
    public long[] announced(int index) {
        return announced(index, declaredRank());
    }

    /**
     * The same with the number of dimensions that other declarations of the file tell.
     *
     * @param declared
     *            that number; −1 if none tells it
     */
    public long[] announced(int index, int declared) {
        long[] known = integers(index);
        long count = count(index, declared);
        if (known != null || count < 0 || count > Shape.MAX_RANK) {
            return known == null ? new long[0] : known;
        }
        long[] unknown = new long[(int) count];
        Arrays.fill(unknown, -1);
        return unknown;
    }

    /**
     * Returns whether few other nodes depend on the first result.
     *
     * @param most
     *            how many are few
     * @return false if there are more, or it is not known
     */
    public boolean hasFewDependents(int most) {
        return !node.outputs().isEmpty() && graphs.dependents(node.outputs().getFirst(), most).isPresent();
    }

    /** The number of dimensions that the file declares of the first result; −1 if it does not. */
    public int declaredRank() {
        return node.outputs().isEmpty() ? -1 : graphs.declaredRank(node.outputs().getFirst());
    }

    /** The number of elements of a list that is an operand: its own, or what follows from other declarations. */
    private long count(int index, long declared) {
        Ref list = input(index);
        return list.rank() == 1 && list.dim(0) >= 0 ? list.dim(0) : declared;
    }

    /**
     * An operand that is a list, with a length if that is known.
     *
     * @param declared
     *            its length if its own shape does not tell it, from other declarations of the file; −1 if none does
     */
    public Ref counted(int index, long declared) {
        Ref list = input(index);
        return declared >= 0 && list.rank() == 1 && list.dim(0) < 0 ? block.reshape(list, declared) : list;
    }

    /** Whether the node has an attribute. */
    public boolean hasAttribute(String name) {
        return attributes.containsKey(name);
    }

    private IllegalArgumentException kind(String name, String wanted, OnnxAttribute found) {
        return error("attribute '%s' is %s, but is of kind %s", name, wanted, found.getClass().getSimpleName());
    }

    /** A whole number. */
    public long integer(String name, long byDefault) {
        return switch (attributes.get(name)) {
            case null -> byDefault;
            case OnnxAttribute.Int(long value) -> value;
            case OnnxAttribute other -> throw kind(name, "a whole number", other);
        };
    }

    /** A whole number of 32 bits. */
    public int int32(String name, long byDefault) {
        long value = integer(name, byDefault);
        if (value != (int) value) {
            throw error("attribute '%s' is %d, which is out of range", name, value);
        }
        return (int) value;
    }

    /** Whether a whole number is not 0. */
    public boolean flag(String name, boolean byDefault) {
        return integer(name, byDefault ? 1 : 0) != 0;
    }

    /** A floating-point number. */
    public float real(String name, float byDefault) {
        return switch (attributes.get(name)) {
            case null -> byDefault;
            case OnnxAttribute.Real(float value) -> value;
            case OnnxAttribute other -> throw kind(name, "a floating-point number", other);
        };
    }

    /** A text. */
    public String text(String name, String byDefault) {
        return switch (attributes.get(name)) {
            case null -> byDefault;
            case OnnxAttribute.Text(String value) -> value;
            case OnnxAttribute other -> throw kind(name, "a text", other);
        };
    }

    /** Whole numbers; null if the attribute is missing. */
    public long @Nullable [] integers(String name) {
        return switch (attributes.get(name)) {
            case null -> null;
            case OnnxAttribute.Ints(List<Long> value) -> value.stream().mapToLong(Long::longValue).toArray();
            case OnnxAttribute other -> throw kind(name, "a list of whole numbers", other);
        };
    }

    /** Floating-point numbers; null if the attribute is missing. */
    public @Nullable List<Float> reals(String name) {
        return switch (attributes.get(name)) {
            case null -> null;
            case OnnxAttribute.Reals(List<Float> value) -> value;
            case OnnxAttribute other -> throw kind(name, "a list of floating-point numbers", other);
        };
    }

    /** Texts; null if the attribute is missing. */
    public @Nullable List<String> texts(String name) {
        return switch (attributes.get(name)) {
            case null -> null;
            case OnnxAttribute.Texts(List<String> value) -> value;
            case OnnxAttribute other -> throw kind(name, "a list of texts", other);
        };
    }

    /** A tensor; null if the attribute is missing. */
    public @Nullable Tensor tensor(String name) {
        return switch (attributes.get(name)) {
            case null -> null;
            case OnnxAttribute.OfTensor value -> graphs.read(value.value());
            case OnnxAttribute other -> throw kind(name, "a tensor", other);
        };
    }

    /** The type of a value; null if the attribute is missing. */
    public @Nullable OnnxType declared(String name) {
        return switch (attributes.get(name)) {
            case null -> null;
            case OnnxAttribute.OfType(OnnxType value) -> value;
            case OnnxAttribute other -> throw kind(name, "a type", other);
        };
    }

    /** A type of elements. */
    public DType dtype(String name, DType byDefault) {
        return hasAttribute(name)
                ? ElementTypes.get("Attribute '" + name + "' of " + this, integer(name, 0))
                : byDefault;
    }

    /** A graph that the node runs. */
    public OnnxGraph graph(String name) {
        return switch (attributes.get(name)) {
            case null -> throw error("needs the attribute '%s', a graph", name);
            case OnnxAttribute.OfGraph(OnnxGraph value) -> value;
            case OnnxAttribute other -> throw kind(name, "a graph", other);
        };
    }

    /** Means to translate graphs that the node runs. */
    public Graphs graphs() {
        return graphs;
    }

    /** An axis counted from the front. */
    public int axis(long axis, int rank) {
        if (axis < -rank || axis >= Math.max(rank, 1)) {
            throw error("an axis of an operand of rank %d lies between %d and %d, but is %d", rank, -rank, rank - 1,
                    axis);
        }
        return (int) (axis < 0 ? axis + rank : axis);
    }

    /** An error that names the node. */
    @FormatMethod
    public IllegalArgumentException error(String format, @Nullable Object... arguments) {
        return new IllegalArgumentException(this + ": " + String.format(Locale.ROOT, format, arguments));
    }

    @Override
    public String toString() {
        return "Operator " + node.operator()
                + (node.name().isEmpty() ? "" : " '" + node.name() + "'")
                + (node.outputs().isEmpty() ? "" : " (result '" + node.outputs().getFirst() + "')");
    }
}

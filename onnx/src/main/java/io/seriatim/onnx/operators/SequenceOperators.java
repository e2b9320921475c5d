package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.ElementShapes;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sequences of tensors and optional values. What is known while the model is translated is no variable. */
public final class SequenceOperators {
    /** A split into more parts makes an array. */
    private static final int MOST_PARTS = 256;

    private SequenceOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("SequenceEmpty",
                node -> node.lists().of(node.block(), node.dtype("dtype", DType.FLOAT32), List.of()));
        operators.one("SequenceConstruct", SequenceOperators::construct);
        operators.one("SequenceInsert", SequenceOperators::insert);
        operators.one("SequenceErase", SequenceOperators::erase);
        operators.one("SequenceAt", SequenceOperators::at);
        operators.one("SequenceLength",
                node -> node.block().reshape(node.lists().length(node.block(), node.list(0))));
        operators.one("SplitToSequence", SequenceOperators::split);
        operators.one("ConcatFromSequence", SequenceOperators::join);
        operators.all("SequenceMap", SequenceOperators::map);
        operators.one("Optional", SequenceOperators::optional);
        operators.one("OptionalHasElement", node -> node.lists().isThere(node.block(), node.any(0)));
        operators.one("OptionalGetElement", SequenceOperators::element);
    }

    private static Ref construct(Node node) {
        List<Ref> elements = node.inputs(0);
        if (elements.isEmpty()) {
            throw node.error("needs at least one operand");
        }
        DType dtype = elements.getFirst().dtype();
        elements.forEach(each -> requireType(node, dtype, each));
        return node.lists().of(node.block(), dtype, elements);
    }

    private static void requireType(Node node, DType dtype, Ref element) {
        if (element.dtype() != dtype) {
            throw node.error("the tensors of a sequence have one type, but are %s and %s", dtype, element.dtype());
        }
    }

    /** A place of a list whose length is known, counted from the front. */
    private static int place(Node node, long at, int last) {
        int size = node.type().equals("SequenceInsert") ? last : last + 1;
        if (at < -size || at > last) {
            throw node.error("a place of a sequence of %d tensors lies between %d and %d, but is %d", size, -size,
                    last, at);
        }
        return (int) (at < 0 ? at + size : at);
    }

    private static long known(Node node, long[] position) {
        if (position.length != 1) {
            throw node.error("a place is one number, but is %s", Numbers.text(position));
        }
        return position[0];
    }

    /** A place of an array, counted from the front: int64, one element. */
    private static Ref place(Node node, Ref array, Ref given) {
        BlockBuilder block = node.block();
        Ref at = block.cast(block.reshape(given, 1), DType.INT64);
        Ref negative = block.cast(block.binary("less_than", at, block.integers(DType.INT64, 0)), DType.INT64);
        return block.binary("elementwise_add", at,
                block.binary("elementwise_mul", negative, node.lists().length(block, array)));
    }

    private static Ref insert(Node node) {
        Lists lists = node.lists();
        BlockBuilder block = node.block();
        Ref list = node.list(0);
        Ref element = node.input(1);
        requireType(node, list.dtype(), element);
        List<Ref> elements = lists.elements(list);
        long[] position = node.has(2) ? node.integers(2) : new long[0];
        if (elements != null && position != null) {
            List<Ref> more = new ArrayList<>(elements);
            more.add(node.has(2) ? place(node, known(node, position), elements.size()) : elements.size(), element);
            return lists.of(block, list.dtype(), more);
        }
        if (!node.has(2)) {
            return lists.appended(block, list, element);
        }
        Ref array = lists.array(block, list);
        Ref inserted = block.op("array_insert").in("X", array).in("I", place(node, array, node.input(2)))
                .in("T", element).out("Out");
        return lists.redeclare(block, inserted, lists.shapes(list).and(ElementShapes.of(element.dims())));
    }

    private static Ref erase(Node node) {
        Lists lists = node.lists();
        BlockBuilder block = node.block();
        Ref list = node.list(0);
        List<Ref> elements = lists.elements(list);
        long[] position = node.has(1) ? node.integers(1) : new long[]{-1};
        if (elements != null && position != null) {
            List<Ref> fewer = new ArrayList<>(elements);
            fewer.remove(place(node, known(node, position), elements.size() - 1));
            return lists.of(block, list.dtype(), fewer);
        }
        Ref array = lists.array(block, list);
        Ref at = node.has(1) ? node.input(1) : block.integers(DType.INT64, -1);
        Ref erased = block.op("array_erase").in("X", array).in("I", place(node, array, at)).out("Out");
        return lists.redeclare(block, erased, lists.shapes(array));
    }

    private static Ref at(Node node) {
        Lists lists = node.lists();
        Ref list = node.list(0);
        List<Ref> elements = lists.elements(list);
        long[] position = node.integers(1);
        if (elements != null && position != null) {
            return elements.get(place(node, known(node, position), elements.size() - 1));
        }
        Ref array = ranked(node, list);
        return node.op("read_from_array").in("X", array).in("I", place(node, array, node.input(1))).out("Out");
    }

    /** An array of whose elements the number of dimensions is known. */
    private static Ref ranked(Node node, Ref list) {
        if (!node.lists().shapes(list).isRankKnown()) {
            throw node.error("the number of dimensions of the sequence's tensors is not known or not the same; declare "
                    + "the shape of its tensors in the file");
        }
        return node.lists().array(node.block(), list);
    }

    private static Ref split(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        if (x.rank() == 0) {
            throw node.error("divides an axis, but its operand is a scalar");
        }
        int axis = node.axis(node.integer("axis", 0), x.rank());
        boolean squeezes = !node.has(1) && !node.flag("keepdims", true);
        long[] parts = parts(node, x.dim(axis));
        if (parts == null) {
            return node.op("array_split").in("X", x).maybe("Lengths", node.maybe(1)).attr("axis", axis)
                    .attr("use_stack", squeezes).out("Out");
        }
        List<Ref> all = parts.length == 0
                ? List.of()
                : parts.length == 1
                        ? List.of(x)
                        : node.op("split").in("X", x).attr("axis", axis).attr("sections", parts).list("Out",
                                parts.length);
        return node.lists().of(block, x.dtype(),
                squeezes ? all.stream().map(each -> block.squeeze(each, axis)).toList() : all);
    }

    /** The lengths of the parts; null if they are known only in a run, or too many. */
    private static long @Nullable [] parts(Node node, long length) {
        long[] given = node.has(1) ? node.integers(1) : new long[]{1};
        if (given == null) {
            return null;
        }
        if (node.has(1) && node.input(1).rank() == 1) {
            if (Arrays.stream(given).anyMatch(part -> part < 0)
                    || (length >= 0 && Arrays.stream(given).sum() != length)) {
                throw node.error("axis of length %d cannot be divided into parts of the lengths %s", length,
                        Numbers.text(given));
            }
            return given.length <= MOST_PARTS && (length >= 0 || given.length > 1) ? given : null;
        }
        long each = known(node, given);
        if (each < 1) {
            throw node.error("the length of parts is at least 1, but is %d", each);
        }
        if (length < 0 || Math.ceilDiv(length, each) > MOST_PARTS) {
            return null;
        }
        long[] parts = new long[(int) Math.ceilDiv(length, each)];
        Arrays.fill(parts, each);
        if (length % each != 0) {
            parts[parts.length - 1] = length % each;
        }
        return parts;
    }

    private static Ref join(Node node) {
        Ref list = node.list(0);
        boolean stacks = node.flag("new_axis", false);
        List<Ref> elements = node.lists().elements(list);
        if (elements != null && elements.isEmpty()) {
            throw node.error("joins the tensors of a sequence, which is empty");
        }
        Ref ranked = elements == null ? ranked(node, list) : elements.getFirst();
        int axis = node.axis(node.integer("axis", 0), ranked.rank() + (stacks ? 1 : 0));
        if (elements == null) {
            return node.op("tensor_array_to_tensor").in("X", ranked).attr("axis", axis).attr("use_stack", stacks)
                    .outs("Out", "OutIndex").getFirst();
        }
        return stacks
                ? node.op("stack").in("X", elements).attr("axis", axis).out("Y")
                : node.block().concat(axis, elements);
    }

    private static List<Ref> map(Node node) {
        OnnxGraph body = node.graph("body");
        List<Ref> operands = node.all(0);
        Lists lists = node.lists();
        int size = size(node, operands);
        if (size < 0) {
            return mapInLoop(node, body, operands);
        }
        List<List<Ref>> results = body.outputs().stream().<List<Ref>>map(_ -> new ArrayList<>()).toList();
        for (int i = 0; i < size; i++) {
            List<Ref> parts = new ArrayList<>();
            for (Ref operand : operands) {
                List<Ref> elements = lists.elements(operand);
                parts.add(elements == null ? operand : elements.get(i));
            }
            List<Ref> given = tensors(node, node.graphs().translate(body, node.block(), parts));
            for (int k = 0; k < given.size(); k++) {
                results.get(k).add(given.get(k));
            }
        }
        List<Ref> mapped = new ArrayList<>();
        for (int k = 0; k < results.size(); k++) {
            DType dtype = results.get(k).isEmpty()
                    ? element(node, body.outputs().get(k).type())
                    : results.get(k).getFirst().dtype();
            mapped.add(lists.of(node.block(), dtype, results.get(k)));
        }
        return mapped;
    }

    private static List<Ref> tensors(Node node, List<Ref> outputs) {
        if (!outputs.stream().allMatch(Lists::isTensor)) {
            throw node.error("the outputs of its body are tensors, but one is a sequence or optional value");
        }
        return outputs;
    }

    /** The length of all sequences among the operands; −1 if that of one is known only in a run. */
    private static int size(Node node, List<Ref> operands) {
        int size = node.list(0).type().kind() == ArgType.Kind.ARRAY ? 0 : -1;
        for (int i = 0; i < operands.size(); i++) {
            List<Ref> elements = node.lists().elements(operands.get(i));
            if (elements == null && !Lists.isTensor(operands.get(i))) {
                return -1;
            }
            if (elements != null && i > 0 && elements.size() < size) {
                throw node.error("sequence %d has %d tensors, but the first has %d", i + 1, elements.size(), size);
            }
            size = i == 0 && elements != null ? elements.size() : size;
        }
        return size;
    }

    private static List<Ref> mapInLoop(Node node, OnnxGraph body, List<Ref> operands) {
        BlockBuilder block = node.block();
        List<Ref> arrays = operands.stream().map(each -> Lists.isTensor(each) ? each : ranked(node, each)).toList();
        Ref length = node.lists().length(block, arrays.getFirst());
        Ref again = block.declare(ArgType.dense(DType.BOOL, 1));
        block.op("assign").in("X", block.binary("less_than", block.integers(DType.INT64, 0), length)).to("Out", again)
                .append();
        LoopSteps steps = new LoopSteps(node, again);
        BlockBuilder inner = steps.inner;
        List<Ref> parts = new ArrayList<>();
        for (Ref each : arrays) {
            parts.add(Lists.isTensor(each)
                    ? each
                    : inner.op("read_from_array").in("X", each).in("I", steps.count).out("Out"));
        }
        steps.collect(tensors(node, node.graphs().translate(body, inner, parts)));
        Ref follows = inner.binary("less_than", steps.next(), length);
        steps.lists.forEach(list -> block.op("array_new").attr("dtype", list.dtype()).attr("shape", list.dims())
                .to("Out", list).append());
        steps.end(follows);
        return steps.lists;
    }

    /** The type of the elements of a tensor, or of the tensors of a sequence or optional value. */
    private static DType element(Node node, @Nullable OnnxType type) {
        return switch (type) {
            case OnnxType.OfTensor(int element, var _) -> ElementTypes.get("A value of " + node, element);
            case OnnxType.Sequence(OnnxType of) -> element(node, of);
            case OnnxType.Optional(OnnxType of) -> element(node, of);
            case null, default -> throw node.error("needs the declared type of a value, but it is %s", type);
        };
    }

    private static Ref optional(Node node) {
        Ref value = node.any(0);
        return value == null ? node.lists().none(element(node, node.declared("type"))) : value;
    }

    private static Ref element(Node node) {
        Ref given = node.any(0);
        Ref value = given == null ? null : node.lists().value(given);
        if (value == null) {
            throw node.error("the optional value has no element");
        }
        return value;
    }
}

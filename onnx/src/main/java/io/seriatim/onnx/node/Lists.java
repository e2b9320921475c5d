package io.seriatim.onnx.node;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.ModelBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lists of tensors, which ONNX calls sequences, optional values, and tensors whose number of dimensions a run chooses.
 *
 * <p>
 * A list whose length is known while the model is translated is no variable of the program: operators take its elements
 * apart and together, so that a list between a Split and a Concat leaves no trace. Any other list, such as one that
 * grows in a loop, is an array of the program. An optional value is a truth value and a value, which counts if it is
 * true; one that is there for certain is the value itself.
 */
public final class Lists {
    /** A longer list becomes an array, so that a chain of nodes does not keep lists of quadratic size. */
    private static final int LONGEST = 256;

    private final ModelBuilder model;
    private final Map<String, List<Ref>> known = new HashMap<>();
    private final Map<String, Maybe> optionals = new HashMap<>();
    private final Map<String, Choice> choices = new HashMap<>();
    private final Map<String, ElementShapes> shapes = new HashMap<>();

    /**
     * An optional value.
     *
     * @param there
     *            a truth value without dimensions; null if it is false
     * @param value
     *            the value; null if it is never there
     */
    private record Maybe(@Nullable Ref there, @Nullable Ref value) {
    }

    /**
     * One of two values, of which each is a tensor or a choice again. One of them counts in a run; the other one has
     * some elements, which mean nothing.
     *
     * @param condition
     *            one truth value
     * @param yes
     *            what counts if it is true
     * @param no
     *            what counts otherwise
     */
    public record Choice(Ref condition, Ref yes, Ref no) {
    }

    /** Creates the lists of a model. */
    public Lists(ModelBuilder model) {
        this.model = model;
    }

    /** Whether a value is a tensor, and neither a list nor an optional value. */
    public static boolean isTensor(Ref ref) {
        return ref.type().kind() == ArgType.Kind.DENSE;
    }

    /** A list of some tensors. */
    public Ref of(BlockBuilder block, DType dtype, List<Ref> elements) {
        ElementShapes common = ElementShapes.NONE;
        for (Ref element : elements) {
            common = common.and(ElementShapes.of(element.dims()));
        }
        Ref list = typed(model.fresh("list"), dtype, common);
        known.put(list.name(), List.copyOf(elements));
        return elements.size() <= LONGEST ? list : array(block, list);
    }

    /** The tensors of a list whose length is known; null otherwise. */
    public @Nullable List<Ref> elements(Ref list) {
        return known.get(list.name());
    }

    /** What is known of the shapes of a list's tensors. */
    public ElementShapes shapes(Ref list) {
        ElementShapes found = shapes.get(list.name());
        return found == null ? ElementShapes.of(list.dims()) : found;
    }

    private Ref typed(String name, DType dtype, ElementShapes elements) {
        shapes.put(name, elements);
        return new Ref(name, elements.array(dtype));
    }

    /** Declares an array. */
    public Ref declare(BlockBuilder block, DType dtype, ElementShapes elements) {
        return typed(block.declare(elements.array(dtype)).name(), dtype, elements);
    }

    /** Changes what is known of the tensors of an array of a block. */
    public Ref redeclare(BlockBuilder block, Ref array, ElementShapes elements) {
        Ref other = typed(array.name(), array.dtype(), elements);
        block.block().put(block.block().get(array.name()).with(other.type().varType()));
        return other;
    }

    /** A list as an array, which is the list itself if it is one. */
    public Ref array(BlockBuilder block, Ref list) {
        List<Ref> elements = elements(list);
        if (elements == null) {
            return list;
        }
        Ref array = declare(block, list.dtype(), shapes(list));
        if (elements.isEmpty()) {
            block.op("array_new").attr("dtype", list.dtype()).to("Out", array).append();
        }
        for (int i = 0; i < elements.size(); i++) {
            write(block, array, block.integers(DType.INT64, i), elements.get(i));
        }
        return redeclare(block, array, shapes(list));
    }

    private static void write(BlockBuilder block, Ref array, Ref at, Ref element) {
        block.op("write_to_array").in("X", element).in("I", at).to("Out", array).append();
    }

    /** A list with one more tensor at its end. */
    public Ref appended(BlockBuilder block, Ref list, Ref element) {
        Ref from = array(block, list);
        Ref array = declare(block, list.dtype(), shapes(list));
        block.op("assign").in("X", from).to("Out", array).append();
        write(block, array, length(block, from), element);
        return redeclare(block, array, shapes(list).and(ElementShapes.of(element.dims())));
    }

    /** The length of a list: int64, one element. */
    public Ref length(BlockBuilder block, Ref list) {
        List<Ref> elements = elements(list);
        return elements == null
                ? block.op("lod_array_length").in("X", list).out("Out")
                : block.integers(DType.INT64, elements.size());
    }

    /** An optional value that is not there. */
    public Ref none(DType dtype) {
        return optional(new Maybe(null, null), ArgType.array(dtype));
    }

    /**
     * An optional value.
     *
     * @param there
     *            a truth value without dimensions
     * @param value
     *            what it is if it is there: a tensor or a list
     */
    public Ref optional(Ref there, Ref value) {
        return optional(new Maybe(there, value), ArgType.array(value.dtype(), value.dims()));
    }

    private Ref optional(Maybe maybe, ArgType type) {
        Ref ref = new Ref(model.fresh("optional"), type);
        optionals.put(ref.name(), maybe);
        return ref;
    }

    /** Whether a value may be missing. */
    public boolean isOptional(Ref ref) {
        return optionals.containsKey(ref.name());
    }

    /** Whether a value is there, as a truth value without dimensions. */
    public Ref isThere(BlockBuilder block, @Nullable Ref ref) {
        Maybe maybe = ref == null ? new Maybe(null, null) : optionals.get(ref.name());
        return maybe != null && maybe.there != null ? maybe.there : block.scalar(DType.BOOL, maybe == null ? 1 : 0);
    }

    /** The value of an optional value, or the value itself if it is not optional; null if it is never there. */
    public @Nullable Ref value(Ref ref) {
        Maybe maybe = optionals.get(ref.name());
        return maybe == null ? ref : maybe.value;
    }

    /** One of two tensors of different numbers of dimensions, or of choices. */
    public Ref choice(Ref condition, Ref yes, Ref no) {
        Ref ref = new Ref(model.fresh("choice"), ArgType.array(yes.dtype()));
        choices.put(ref.name(), new Choice(condition, yes, no));
        return ref;
    }

    /** The choice that a value is; null if it is anything else. */
    public @Nullable Choice choice(Ref ref) {
        return choices.get(ref.name());
    }

    /** Whether the model has choices so far. */
    public boolean hasChoices() {
        return !choices.isEmpty();
    }

    /** The tensors of which a value is one; the value itself if it is no choice. */
    public List<Ref> leaves(Ref ref) {
        Choice choice = choice(ref);
        if (choice == null) {
            return List.of(ref);
        }
        List<Ref> leaves = new ArrayList<>(leaves(choice.yes));
        leaves.addAll(leaves(choice.no));
        return leaves;
    }

    /** A value where a condition is known. */
    public Ref restricted(Ref ref, Ref condition, boolean truth) {
        Choice choice = choice(ref);
        if (choice == null) {
            return ref;
        }
        Ref yes = restricted(choice.yes, condition, truth);
        Ref no = restricted(choice.no, condition, truth);
        if (choice.condition.name().equals(condition.name())) {
            return truth ? yes : no;
        }
        return yes.equals(choice.yes) && no.equals(choice.no) ? ref : choice(choice.condition, yes, no);
    }

    /** The types of which a value has one, for messages. */
    public String describe(Ref ref) {
        return leaves(ref).stream().map(leaf -> leaf.type().toString()).collect(Collectors.joining(" or "));
    }
}

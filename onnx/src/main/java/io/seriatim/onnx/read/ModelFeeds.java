package io.seriatim.onnx.read;

import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.program.SymbolicDims;
import io.seriatim.graph.translate.ModelBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.onnx.proto.OnnxType;
import io.seriatim.onnx.proto.OnnxValue;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The feeds of a model. A feed is a tensor: an input that is one, or an optional one, becomes one feed; a sequence
 * becomes as many as the options give shapes.
 */
final class ModelFeeds {
    /** What converters write for a dimension of which they know nothing, however many inputs have one. */
    private static final Set<String> NAMELESS = Set.of("?", "-1", "None", "none", "unk", "unknown", "Unknown");

    private final List<OnnxValue> inputs;
    private final LoadOptions options;
    /** The feeds of each input, by its name. */
    private final Map<String, List<OnnxValue>> feeds = new LinkedHashMap<>();

    /** Finds the feeds of the inputs that have no initialiser. */
    ModelFeeds(List<OnnxValue> inputs, LoadOptions options) {
        this.inputs = inputs;
        this.options = options;
        inputs.forEach(input -> feeds.put(input.name(), tensors(input)));
    }

    /** Adds the feeds to the program, with the names of their dimensions; {@code bind} gets the value of each input. */
    void addTo(ModelBuilder builder, Lists lists, BiConsumer<String, Ref> bind) {
        List<OnnxValue> all = feeds.values().stream().flatMap(List::stream).toList();
        SymbolicDims names = new SymbolicDims(symbolicDims(all));
        Map<String, @Nullable List<Long>> dims = options.dims(declared(all), names);
        for (OnnxValue input : inputs) {
            List<Ref> refs = Objects.requireNonNull(feeds.get(input.name())).stream()
                    .map(each -> feed(builder, each, dims.get(each.name()))).toList();
            bind.accept(input.name(), isSequence(input)
                    ? lists.of(builder.main(), refs.getFirst().dtype(), refs)
                    : refs.getFirst());
        }
        builder.symbolicDims(names.names());
    }

    /** The name of one tensor of a sequence, as a feed or a fetch. */
    static String element(String sequence, int index) {
        return sequence + "." + index;
    }

    /** The type of an input that is there: a caller has something to feed. */
    private static @Nullable OnnxType present(OnnxValue input) {
        return input.type() instanceof OnnxType.Optional(OnnxType of) ? of : input.type();
    }

    private static boolean isSequence(OnnxValue input) {
        return present(input) instanceof OnnxType.Sequence;
    }

    private List<OnnxValue> tensors(OnnxValue input) {
        if (!(present(input) instanceof OnnxType.Sequence(OnnxType of))) {
            return List.of(new OnnxValue(input.name(), present(input)));
        }
        // The tensors may differ in dimensions of one name.
        OnnxType each = of instanceof OnnxType.OfTensor(int element, List<OnnxType.Dim> dims) && dims != null
                ? new OnnxType.OfTensor(element, dims.stream().map(dim -> new OnnxType.Dim(dim.size(), "")).toList())
                : of;
        List<OnnxValue> all = new ArrayList<>();
        while (options.shapes().containsKey(element(input.name(), all.size()))) {
            all.add(new OnnxValue(element(input.name(), all.size()), each));
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException("input '" + input.name() + "' is a sequence, and the file does not say "
                    + "of how many tensors; give the shape of each, as '" + element(input.name(), 0) + "', '"
                    + element(input.name(), 1) + "' and so on, when the model is loaded (LoadOptions.shape, or --shape "
                    + "of a command): each is a feed");
        }
        return all;
    }

    /** The dimensions that the file declares; null for an input whose rank it does not say. */
    private static Map<String, @Nullable List<Long>> declared(List<OnnxValue> feeds) {
        Map<String, @Nullable List<Long>> declared = new LinkedHashMap<>();
        for (OnnxValue feed : feeds) {
            if (feed.type() instanceof OnnxType.OfTensor(int _, List<OnnxType.Dim> dims)) {
                declared.put(feed.name(), dims == null ? null : dims.stream().map(OnnxType.Dim::size).toList());
            }
        }
        return declared;
    }

    /** The names of the dimensions of feeds, without those by which converters say that they know nothing. */
    private static Map<String, List<String>> symbolicDims(List<OnnxValue> feeds) {
        Map<String, List<String>> names = new LinkedHashMap<>();
        for (OnnxValue feed : feeds) {
            if (feed.type() instanceof OnnxType.OfTensor(int _, List<OnnxType.Dim> dims) && dims != null) {
                names.put(feed.name(), dims.stream().map(OnnxType.Dim::parameter)
                        .map(name -> NAMELESS.contains(name) ? "" : name).toList());
            }
        }
        return names;
    }

    private static Ref feed(ModelBuilder builder, OnnxValue input, @Nullable List<Long> dims) {
        if (!(input.type() instanceof OnnxType.OfTensor(int element, List<OnnxType.Dim> _))) {
            throw new IllegalArgumentException("input '" + input.name() + "' is not a tensor but "
                    + input.type() + ", which is not supported");
        }
        DType dtype = ElementTypes.get("Input '" + input.name() + "'", element);
        if (dims == null) {
            throw new IllegalArgumentException("input '" + input.name()
                    + "' does not declare its number of dimensions; "
                    + "declare it in the file (dimensions may be unknown), or give its shape when the model is loaded "
                    + "(LoadOptions.shape, or --shape of a command)");
        }
        return builder.feed(input.name(), dtype, dims.stream().mapToLong(Long::longValue).toArray());
    }
}

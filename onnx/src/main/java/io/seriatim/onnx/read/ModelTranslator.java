package io.seriatim.onnx.read;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.program.Importing;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.ModelBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Graphs;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Translator;
import io.seriatim.onnx.operators.Branches;
import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxFunction;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.onnx.proto.OnnxModel;
import io.seriatim.onnx.proto.OnnxNode;
import io.seriatim.onnx.proto.OnnxTensor;
import io.seriatim.onnx.proto.OnnxType;
import io.seriatim.onnx.proto.OnnxValue;
import io.seriatim.onnx.proto.TensorData;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Translates a model of ONNX into a program, node by node. */
public final class ModelTranslator {
    /** The versions of ONNX's operators that are read. */
    private static final long OLDEST = 1;
    private static final long NEWEST = 28;
    /** Operators that had the same form and meaning in all versions before. */
    private static final Set<String> UNCHANGED = Set.of("Abs", "Ceil", "Exp", "Floor", "Identity", "Log", "Neg", "Not",
            "Reciprocal", "Relu", "Sigmoid", "Softplus", "Softsign", "Sqrt", "Tanh", "Transpose");
    /** The most functions that call each other. */
    private static final int DEEPEST = 64;
    /** For combinations of so many conditions, all nodes that depend on them are translated together. */
    private static final int WHOLE = 2;
    /** The version of the format since which initialisers need not be inputs; those that are may be fed. */
    private static final int OVERRIDABLE_SINCE = 4;
    /**
     * The most nodes that calls of functions and graphs make; functions that call others twice each would double them,
     * and a graph is repeated for each tensor of a sequence.
     */
    private static final int MOST_CALLED = 200_000;

    private final String source;
    private final OnnxModel model;
    private final TensorData data;
    private final LoadOptions options;
    /** Whether inputs with an initialiser may be fed. */
    private final boolean overridable;
    private final ModelBuilder builder = new ModelBuilder();
    private final Lists lists = new Lists(builder);
    private final Map<String, OnnxFunction> functions = new HashMap<>();
    private int called;
    private int repeated;

    private ModelTranslator(String source, OnnxModel model, TensorData data, LoadOptions options,
            boolean overridable) {
        this.overridable = overridable;
        this.source = source;
        this.model = model;
        this.data = data;
        this.options = options;
        if (options.isInference()) {
            builder.forInference();
        }
        for (OnnxFunction function : model.functions()) {
            functions.put(function.domain() + ":" + function.name(), function);
        }
    }

    /**
     * Translates a model.
     *
     * @param source
     *            its file, for messages
     * @param model
     *            what the file has
     * @param data
     *            reads its tensors
     * @param options
     *            open dimensions of inputs, and whether operators in training mode become those for inference
     * @return the model, which belongs to the caller
     * @throws IOException
     *             if a tensor is not valid or cannot be read
     * @throws IllegalArgumentException
     *             if operators are not known, all of which the message names, or cannot be translated
     */
    public static InferenceModel translate(String source, OnnxModel model, TensorData data, LoadOptions options)
            throws IOException {
        try {
            return Importing.model(
                    () -> translate(source, model, data, options, model.irVersion() >= OVERRIDABLE_SINCE));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(source + ": " + e.getMessage(), e);
        }
    }

    /** Where an operation needs a number while the file is read, initialisers keep their values: none can be fed. */
    private static InferenceModel translate(String source, OnnxModel model, TensorData data, LoadOptions options,
            boolean overridable) throws IOException {
        try {
            return new ModelTranslator(source, model, data, options, overridable).translated();
        } catch (IllegalArgumentException e) {
            Set<String> initialized = new HashSet<>();
            model.graph().initializers().forEach(each -> initialized.add(each.name()));
            if (!overridable || model.graph().inputs().stream().noneMatch(each -> initialized.contains(each.name()))) {
                throw e;
            }
            return new ModelTranslator(source, model, data, options, false).translated();
        }
    }

    private InferenceModel translated() throws IOException {
        InferenceModel built = null;
        try {
            built = built();
            return built;
        } finally {
            if (built == null) {
                builder.discard();
            }
        }
    }

    private InferenceModel built() throws IOException {
        long version = model.opsets().getOrDefault("", NEWEST);
        if (version > NEWEST || (version < OLDEST && !isUnchanged())) {
            throw new IllegalArgumentException("the model uses version " + version + " of ONNX's operators, but "
                    + OLDEST + " to " + NEWEST + " are read; convert it with onnx.version_converter");
        }
        new UnknownOperators(functions.keySet()).refuse(model);
        Scope scope = new Scope(null, builder.main(), model.opsets(), Map.of(), 0, 0);
        OnnxGraph graph = model.graph();
        Set<String> initialized = new HashSet<>();
        for (OnnxTensor tensor : graph.initializers()) {
            if (!initialized.add(tensor.name())) {
                throw new FileFormatException(source, "two initialisers have the name '" + tensor.name() + "'");
            }
        }
        graph.sparse().forEach(tensor -> initialized.add(tensor.values().name()));
        List<OnnxValue> inputs = new ArrayList<>();
        for (OnnxValue input : graph.inputs()) {
            if (!initialized.contains(input.name())) {
                inputs.add(input);
            } else if (overridable) {
                builder.feedable(input.name());
            }
        }
        new ModelFeeds(inputs, options).addTo(builder, lists, scope::bind);
        scope.initializers(graph);
        scope.translate(NodeOrder.of(graph.nodes()), names(graph.outputs()));
        Map<String, Ref> outputs = new LinkedHashMap<>();
        for (OnnxValue output : graph.outputs()) {
            Ref result = Branches.fetched(lists, builder.main(), scope.get(output.name(), "the outputs of the graph"));
            for (Map.Entry<String, Ref> each : fetched(output.name(), result).entrySet()) {
                if (outputs.put(each.getKey(), each.getValue()) != null) {
                    throw new FileFormatException(source, "two outputs have the name '" + each.getKey() + "'");
                }
            }
        }
        if (outputs.isEmpty()) {
            throw new FileFormatException(source, "a model has outputs, but its graph has none");
        }
        return builder.build(outputs);
    }

    private static List<String> names(List<OnnxValue> values) {
        return values.stream().map(OnnxValue::name).toList();
    }

    private boolean isUnchanged() {
        return model.graph().nodes().stream()
                .allMatch(node -> node.domain().isEmpty() && UNCHANGED.contains(node.type()));
    }

    /** The tensors of an output by name: itself, or those of a sequence of a length that follows from the file. */
    private Map<String, Ref> fetched(String name, Ref value) {
        if (lists.isOptional(value)) {
            throw new IllegalArgumentException("output '" + name + "' is an optional value of which only a run knows "
                    + "whether it is there, which is not supported; make the results of OptionalHasElement and "
                    + "OptionalGetElement outputs in its place");
        }
        if (Lists.isTensor(value)) {
            return Map.of(name, value);
        }
        List<Ref> elements = lists.elements(value);
        if (elements == null) {
            throw new IllegalArgumentException("output '" + name + "' is a sequence of which only a run knows how many "
                    + "tensors it has, which is not supported; make the results of SequenceLength, and of "
                    + "ConcatFromSequence or SequenceAt, outputs in its place");
        }
        Map<String, Ref> all = new LinkedHashMap<>();
        elements.forEach(element -> all.put(ModelFeeds.element(name, all.size()), element));
        return all;
    }

    /** The values that nodes see: those of a graph and of the graphs around it, or those of a function. */
    private final class Scope implements Graphs {
        private final @Nullable Scope parent;
        private final BlockBuilder block;
        private final Map<String, Long> opsets;
        private final Map<String, OnnxAttribute> arguments;
        private final int depth;
        /** How many conditions are known here of which the types of values depend outside. */
        private final int conditions;
        private final Map<String, Ref> values = new HashMap<>();
        private final Map<String, Integer> ranks = new HashMap<>();
        /** Those that are translated now. */
        private List<OnnxNode> nodes = List.of();

        Scope(@Nullable Scope parent, BlockBuilder block, Map<String, Long> opsets,
                Map<String, OnnxAttribute> arguments, int depth, int conditions) {
            this.conditions = conditions;
            this.parent = parent;
            this.block = block;
            this.opsets = opsets;
            this.arguments = arguments;
            this.depth = depth;
        }

        void bind(String name, Ref ref) {
            if (values.put(name, ref) != null) {
                throw new IllegalArgumentException("two values of a graph have the name '" + name
                        + "'; names are unique");
            }
        }

        private @Nullable Ref find(String name) {
            Ref here = values.get(name);
            return here == null && parent != null ? parent.find(name) : here;
        }

        Ref get(String name, String reader) {
            Ref found = find(name);
            if (found == null) {
                throw new IllegalArgumentException(reader + " read the value '" + name
                        + "', which no node, input or initialiser of the graph gives");
            }
            return found;
        }

        /** Exporters declare values without dimensions if they do not know them. */
        void declare(List<OnnxValue> declared) {
            for (OnnxValue each : declared) {
                if (each.type() instanceof OnnxType.OfTensor(int _, List<OnnxType.Dim> dims) && dims != null) {
                    ranks.put(each.name(), dims.isEmpty() ? -1 : dims.size());
                }
            }
        }

        @Override
        public int declaredRank(String value) {
            return ranks.getOrDefault(value, -1);
        }

        @Override
        public OptionalInt dependents(String value, int most) {
            return NodeOrder.dependents(nodes, value, most);
        }

        void initializers(OnnxGraph graph) throws IOException {
            declare(graph.values());
            declare(graph.outputs());
            for (OnnxTensor tensor : graph.initializers()) {
                Tensor value = data.read(tensor);
                bind(tensor.name(), parent == null
                        ? builder.parameter(tensor.name(), value)
                        : builder.constant(tensor.name(), value));
            }
            if (!graph.sparse().isEmpty()) {
                throw new IllegalArgumentException("initialisers of which most elements are 0 are not supported, but '"
                        + graph.sparse().getFirst().values().name() + "' is one");
            }
        }

        /**
         * Translates nodes. Those whose results nothing reads are left out: their operands need not fit. Those that
         * read a value whose type depends on a condition are translated twice.
         *
         * @param wanted
         *            the values that are read afterwards
         */
        void translate(List<OnnxNode> ordered, List<String> wanted) {
            nodes = NodeOrder.needed(ordered, wanted);
            Alternatives rest = new Alternatives(nodes, wanted, name -> {
                Ref value = lists.hasChoices() ? find(name) : null;
                Lists.Choice choice = value == null ? null : lists.choice(value);
                return choice == null ? null : choice.condition().name();
            }, conditions < WHOLE);
            var compositions =
                    new Compositions(nodes, wanted, new Scalars(nodes, this::find, builder::value, this::read));
            for (Alternatives.Part part = rest.next(); part != null; part = rest.next()) {
                if (part.condition() == null) {
                    part.nodes().forEach(node -> compositions.translate(node, this::find, this::translate));
                } else {
                    translateTwice(part);
                }
            }
        }

        private void translateTwice(Alternatives.Part part) {
            OnnxNode first = part.nodes().getFirst();
            Node node = new Node(first, 0, List.of(), Map.of(), block, this);
            repeated += part.nodes().size();
            LimitException.check(node, conditions, repeated);
            Ref condition = part.reads().stream().map(this::find).filter(Objects::nonNull).map(lists::choice)
                    .filter(Objects::nonNull).map(Lists.Choice::condition)
                    .filter(each -> each.name().equals(part.condition())).findFirst().orElseThrow();
            List<IllegalArgumentException> failures = new ArrayList<>();
            List<Ref> results =
                    Branches.of(node, condition, inner -> alternative(part, condition, true, inner, failures),
                            inner -> alternative(part, condition, false, inner, failures));
            for (int i = 0; i < results.size(); i++) {
                bind(part.results().get(i), results.get(i));
                builder.name(results.get(i), part.results().get(i));
            }
        }

        /**
         * Translates nodes where a condition is known. If they do not allow the types that values have then, a run that
         * comes there fails, but others do not; null in this case.
         */
        private @Nullable List<Ref> alternative(Alternatives.Part part, Ref condition, boolean truth,
                BlockBuilder into, List<IllegalArgumentException> failures) {
            Scope inner = new Scope(this, into, opsets, arguments, depth, conditions + 1);
            inner.ranks.putAll(ranks);
            for (String name : part.reads()) {
                Ref value = find(name);
                Ref known = value == null ? null : lists.restricted(value, condition, truth);
                if (known != null && !known.equals(value)) {
                    inner.bind(name, known);
                }
            }
            return attempt(into, failures, () -> {
                inner.translate(part.nodes(), part.results());
                return part.results().stream().map(name -> inner.get(name, "the nodes after an If")).toList();
            });
        }

        private @Nullable List<Ref> attempt(BlockBuilder into, List<IllegalArgumentException> failures,
                Supplier<List<Ref>> translation) {
            try {
                return translation.get();
            } catch (LimitException e) {
                throw e;
            } catch (IllegalArgumentException e) {
                failures.add(e);
                if (failures.size() > 1) {
                    throw failures.getFirst();
                }
                Branches.require(into, into.cast(into.integers(DType.INT64, 0), DType.BOOL),
                        String.valueOf(e.getMessage()));
                return null;
            }
        }

        @Override
        public @Nullable List<Ref> branch(OnnxGraph graph, BlockBuilder into,
                List<IllegalArgumentException> failures) {
            return attempt(into, failures, () -> translate(graph, into, List.of()));
        }

        void translate(OnnxNode node) {
            if ((depth > 0 || parent != null) && ++called > MOST_CALLED) {
                throw new LimitException("calls of functions and graphs make at most " + MOST_CALLED
                        + " nodes, but these make more; they call each other too often");
            }
            List<@Nullable Ref> operands = new ArrayList<>();
            for (String name : node.inputs()) {
                operands.add(
                        name.isEmpty() ? null : get(name, "operator " + node.operator() + " '" + node.name() + "'"));
            }
            Map<String, OnnxAttribute> attributes = attributes(node);
            OnnxFunction function = functions.get(node.domain() + ":" + node.type());
            List<Ref> results;
            if (function != null) {
                results = call(function, operands, attributes);
            } else {
                Translator translator = WrittenNormalisation.is(node)
                        ? WrittenNormalisation::translate
                        : Operators.all().find(node.domain(), node.type());
                if (translator == null) {
                    throw new IllegalArgumentException("operator " + node.operator() + " is not known");
                }
                results = translated(translator, new Node(node,
                        opsets.getOrDefault(node.domain(), model.opsets().getOrDefault(node.domain(), 1L)), operands,
                        attributes, block, this));
            }
            for (int i = 0; i < node.outputs().size(); i++) {
                String name = node.outputs().get(i);
                if (name.isEmpty()) {
                    continue;
                }
                if (i >= results.size()) {
                    throw new IllegalArgumentException("operator " + node.operator() + " '" + node.name() + "' has "
                            + results.size() + " results, but number " + (i + 1) + " is wanted ('" + name + "')");
                }
                bind(name, results.get(i));
                builder.name(results.get(i), name);
            }
        }

        private static List<Ref> translated(Translator translator, Node node) {
            try {
                return translator.translate(node);
            } catch (LimitException e) {
                throw e;
            } catch (IllegalArgumentException e) {
                String message = String.valueOf(e.getMessage());
                throw message.startsWith("Operator ")
                        ? e
                        : new IllegalArgumentException(node + ": " + message, e);
            } catch (ArithmeticException | IndexOutOfBoundsException e) {
                // Sizes and axes are computed from numbers of the file.
                throw new IllegalArgumentException(node + ": the sizes, axes or numbers of its operands and attributes "
                        + "are out of range or do not fit each other (" + e.getMessage() + ")", e);
            }
        }

        private Map<String, OnnxAttribute> attributes(OnnxNode node) {
            Map<String, OnnxAttribute> given = new HashMap<>();
            node.attributes().forEach((name, value) -> {
                OnnxAttribute own = value instanceof OnnxAttribute.OfFunction(String reference)
                        ? arguments.get(reference)
                        : value;
                if (own != null) {
                    given.put(name, own);
                }
            });
            return given;
        }

        private List<Ref> call(OnnxFunction function, List<@Nullable Ref> operands,
                Map<String, OnnxAttribute> attributes) {
            if (depth >= DEEPEST) {
                throw new IllegalArgumentException("functions call each other at most " + DEEPEST
                        + " deep, but '" + function.name() + "' is deeper: it may call itself");
            }
            Map<String, OnnxAttribute> given = new HashMap<>(function.defaults());
            given.putAll(attributes);
            Scope inner = new Scope(null, block, function.opsets(), given, depth + 1, conditions);
            for (int i = 0; i < function.inputs().size(); i++) {
                Ref operand = i < operands.size() ? operands.get(i) : null;
                if (operand != null) {
                    inner.bind(function.inputs().get(i), operand);
                }
            }
            Set<String> missing = new HashSet<>(function.inputs());
            missing.removeAll(inner.values.keySet());
            // An operand that the call leaves out is left out inside, too.
            inner.translate(NodeOrder.of(function.nodes()).stream()
                    .map(node -> missing.isEmpty() ? node : without(node, missing)).toList(), function.outputs());
            return function.outputs().stream().map(name -> inner.get(name, "the results of " + function.name()))
                    .toList();
        }

        private static OnnxNode without(OnnxNode node, Set<String> missing) {
            return new OnnxNode(node.name(), node.domain(), node.type(),
                    node.inputs().stream().map(name -> missing.contains(name) ? "" : name).toList(), node.outputs(),
                    node.attributes());
        }

        @Override
        public List<Ref> translate(OnnxGraph graph, BlockBuilder into, List<Ref> operands) {
            Scope inner = new Scope(this, into, opsets, arguments, depth, conditions);
            if (graph.inputs().size() != operands.size()) {
                throw new IllegalArgumentException("the graph '" + graph.name() + "' has " + graph.inputs().size()
                        + " inputs, but gets " + operands.size());
            }
            for (int i = 0; i < operands.size(); i++) {
                inner.bind(graph.inputs().get(i).name(), operands.get(i));
            }
            try {
                inner.initializers(graph);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            inner.translate(NodeOrder.of(graph.nodes()), names(graph.outputs()));
            return graph.outputs().stream()
                    .map(output -> inner.get(output.name(), "the outputs of the graph '" + graph.name() + "'"))
                    .toList();
        }

        @Override
        public Lists lists() {
            return lists;
        }

        @Override
        public Tensor read(OnnxTensor tensor) {
            try {
                return data.read(tensor);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

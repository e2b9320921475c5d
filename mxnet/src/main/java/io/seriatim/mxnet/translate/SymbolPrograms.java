package io.seriatim.mxnet.translate;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.Importing;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SymbolicDims;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.translate.Ref;
import io.seriatim.mxnet.read.SymbolEntry;
import io.seriatim.mxnet.read.SymbolGraph;
import io.seriatim.mxnet.read.SymbolNode;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes models of symbols and parameters. */
public final class SymbolPrograms {
    /** Instead of a number of dimensions: each input has those that its uses make likely. */
    private static final int LIKELY = 0;
    /**
     * The numbers of dimensions to try for inputs of which neither the file nor the operators say theirs: the usual
     * ones first.
     */
    private static final int[] RANKS = {LIKELY, 2, 4, 3, 1, 5};

    private final SymbolGraph graph;
    private final Map<String, Tensor> parameters;
    private final List<SymbolNode> inputs;
    private final InputTypes types;

    private SymbolPrograms(SymbolGraph graph, Map<String, Tensor> parameters) {
        this.graph = graph;
        this.parameters = parameters;
        inputs = graph.nodes().stream().filter(node -> node.isVariable() && !parameters.containsKey(node.name()))
                .toList();
        types = new InputTypes(graph, parameters);
    }

    /**
     * Makes a model.
     *
     * @param graph
     *            the symbol
     * @param parameters
     *            the values of variables, which belong to the model from now on; those that it does not need are
     *            closed
     * @param options
     *            dimensions that the file leaves open
     * @return the model: its inputs are the variables without a value that its outputs need
     * @throws FileFormatException
     *             if a node cannot be translated; the message names it and says why
     * @throws IllegalArgumentException
     *             if operators are not known; the message names all of them. Or if a shape of the options is that of no
     *             variable without a value, or contradicts the file
     */
    public static InferenceModel of(SymbolGraph graph, Map<String, Tensor> parameters, LoadOptions options)
            throws FileFormatException {
        RefusedOperators.requireNone(graph);
        SymbolGraph shaped = options.shapes().isEmpty() ? graph : shaped(graph, parameters, options);
        try {
            return new SymbolPrograms(shaped, parameters).model();
        } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
            throw new FileFormatException(graph.source(), String.valueOf(e.getMessage()), e);
        }
    }

    /** Writes shapes that were given into the variables, as if the file had them. */
    private static SymbolGraph shaped(SymbolGraph graph, Map<String, Tensor> parameters, LoadOptions options) {
        Map<String, @Nullable List<Long>> declared = new LinkedHashMap<>();
        for (SymbolNode node : graph.nodes()) {
            if (node.isVariable() && !parameters.containsKey(node.name())) {
                long[] dims = declared(node);
                declared.put(node.name(), dims == null ? null : Arrays.stream(dims).boxed().toList());
            }
        }
        Map<String, @Nullable List<Long>> dims = options.dims(declared, SymbolicDims.NONE);
        List<SymbolNode> nodes = new ArrayList<>();
        for (SymbolNode node : graph.nodes()) {
            List<Long> shape = node.isVariable() ? dims.get(node.name()) : null;
            if (shape == null || shape.isEmpty()) {
                nodes.add(node);
            } else {
                Map<String, String> attributes = new LinkedHashMap<>(node.attributes());
                // MXNet writes 0 for a dimension that is not known.
                attributes.put("__shape__", shape.stream().map(dim -> String.valueOf(Math.max(dim, 0)))
                        .collect(Collectors.joining(",", "(", ")")));
                nodes.add(new SymbolNode(node.index(), node.operator(), node.name(), attributes, node.inputs()));
            }
        }
        return new SymbolGraph(graph.source(), graph.version(), nodes, graph.heads());
    }

    private InferenceModel model() throws FileFormatException {
        boolean guessing = inputs.stream().anyMatch(node -> declared(node) == null && types.rank(node) == null);
        if (!guessing) {
            return attempt(0, false);
        }
        FileFormatException first = null;
        for (int rank : RANKS) {
            try {
                return attempt(rank, true);
            } catch (FileFormatException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        throw Objects.requireNonNull(first);
    }

    private InferenceModel attempt(int rank, boolean guessing) throws FileFormatException {
        Map<String, ArgType> declared = new LinkedHashMap<>();
        for (SymbolNode node : inputs) {
            declared.put(node.name(), ArgType.dense(types.dtype(node), dims(node, rank)));
        }
        return Importing.model(() -> {
            Importer importer = new Importer(graph, parameters, declared, types, guessing);
            importer.translate();
            return finished(importer);
        });
    }

    private long[] dims(SymbolNode node, int guess) {
        long[] declared = declared(node);
        if (declared != null) {
            return declared;
        }
        Integer rank = guess == LIKELY ? types.likelyRank(node) : types.rank(node);
        long[] dims = new long[rank != null ? rank : guess == LIKELY ? RANKS[1] : guess];
        Arrays.fill(dims, -1);
        if (dims.length > 1) {
            dims[1] = channels(node);
        }
        return dims;
    }

    /** The channels of images, if a convolution reads them; else −1. */
    private long channels(SymbolNode image) {
        SymbolEntry entry = new SymbolEntry(image.index(), 0);
        for (SymbolNode node : graph.nodes()) {
            if (node.operator().equals("Convolution") && node.inputs().size() > 1
                    && node.inputs().getFirst().equals(entry)) {
                Tensor weight = parameters.get(graph.nodes().get(node.inputs().get(1).node()).name());
                int groups = new AttributeMap(node.attributes()).integer("num_group", 1);
                if (weight != null && weight.shape().rank() > 1 && groups > 0) {
                    return Math.multiplyExact(weight.shape().dim(1), (long) groups);
                }
            }
        }
        return -1;
    }

    /** The dimensions that the file says; −1 for those that are 0. */
    private static long @Nullable [] declared(SymbolNode node) {
        int[] dims = InputTypes.declared(node);
        return dims.length == 0
                ? null
                : Arrays.stream(dims).asLongStream().map(dim -> dim <= 0 ? -1 : dim).toArray();
    }

    private InferenceModel finished(Importer importer) throws FileFormatException {
        InferenceModel model = importer.model().build(outputs(importer));
        Program program = model.program();
        Set<String> needed = prune(program.global(), model.fetches());
        List<String> feeds = model.feeds().stream().filter(needed::contains).toList();
        boolean isFixed = !importer.isGuessing() || importer.writer().hasAskedForDims();
        Set<String> known = new HashSet<>();
        inputs.stream().filter(node -> declared(node) != null || types.rank(node) != null)
                .forEach(node -> known.add(node.name()));
        for (String feed : feeds) {
            // A number of dimensions that is an assumption, on which nothing depends, is not checked.
            boolean fixed = isFixed || known.contains(feed);
            VarDesc desc = program.global().get(feed);
            program.global().put(new VarDesc(feed, desc.type(), false, fixed, false, true));
        }
        for (String state : states()) {
            VarDesc desc = program.global().var(state);
            if (desc != null && desc.isPersistable()) {
                program.global().put(new VarDesc(state, desc.type(), true, false, false, true));
            }
        }
        Operations.system().requireRunnable(program);
        Map<String, Tensor> values = new LinkedHashMap<>(model.parameters());
        values.keySet().retainAll(needed);
        parameters.forEach((name, value) -> {
            if (!values.containsKey(name)) {
                value.close();
            }
        });
        return new InferenceModel(program, feeds, model.fetches(), values);
    }

    /** Running statistics, which are not trained. */
    private Set<String> states() {
        Set<String> states = new HashSet<>();
        for (SymbolNode node : graph.nodes()) {
            if (node.operator().contains("BatchNorm")) {
                node.inputs().stream().skip(3).map(each -> graph.nodes().get(each.node()).name()).forEach(states::add);
            }
        }
        return states;
    }

    /** The variables of the heads, by the names that MXNet gives them. */
    private Map<String, Ref> outputs(Importer importer) throws FileFormatException {
        Map<String, Ref> outputs = new LinkedHashMap<>();
        for (SymbolEntry head : graph.heads()) {
            SymbolNode node = graph.nodes().get(head.node());
            Ref ref;
            try {
                ref = importer.writer().ref(importer.variable(head));
            } catch (IllegalArgumentException e) {
                throw new FileFormatException(graph.source(), "heads: " + e.getMessage(), e);
            }
            String name = node.isVariable()
                    ? node.name()
                    : OutputNames.of(node, importer.outputs(node)).get(head.output());
            // An output that is listed twice has a number the second time.
            String distinct = name;
            for (int i = 1; outputs.containsKey(distinct); i++) {
                distinct = name + "_" + i;
            }
            outputs.put(distinct, ref);
        }
        return outputs;
    }

    /** Removes what the fetched variables do not need, and returns the names of the rest. */
    private static Set<String> prune(Block block, List<String> fetches) {
        Set<String> needed = new HashSet<>(fetches);
        List<OpDesc> kept = new ArrayList<>();
        for (OpDesc op : block.ops().reversed()) {
            boolean reads = op.outputNames().stream()
                    .anyMatch(name -> needed.contains(name) && !block.get(name).isPersistable());
            if (reads) {
                kept.add(op);
                needed.addAll(op.inputNames());
            }
        }
        block.setOps(kept.reversed());
        Set<String> named = new HashSet<>(needed);
        kept.forEach(op -> named.addAll(op.outputNames()));
        List<String> unused = block.vars().stream().map(VarDesc::name).filter(name -> !named.contains(name)).toList();
        unused.forEach(block::remove);
        return named;
    }
}

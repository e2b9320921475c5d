package io.seriatim.mxnet.translate;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.translate.ModelBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.mxnet.read.SymbolEntry;
import io.seriatim.mxnet.read.SymbolGraph;
import io.seriatim.mxnet.read.SymbolNode;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Translates the nodes of a symbol in order, with assumptions about inputs of which the file says too little. */
final class Importer {
    private final SymbolGraph graph;
    private final ModelBuilder model = new ModelBuilder();
    private final BlockWriter writer = new BlockWriter(model);
    private final Ops ops = new Ops(writer);
    private final boolean guessing;
    private final InputTypes types;
    private final Map<Integer, List<String>> results = new HashMap<>();
    private final Map<String, Open> open = new HashMap<>();

    /** A constant of which dimensions that are 0 are not known. */
    private record Open(double value, List<Long> dims) {
    }

    /**
     * Of a symbol.
     *
     * @param parameters
     *            the values of variables
     * @param inputs
     *            the types of the other variables
     * @param types
     *            what follows from the file
     * @param guessing
     *            whether numbers of dimensions among them are assumptions
     */
    Importer(SymbolGraph graph, Map<String, Tensor> parameters, Map<String, ArgType> inputs,
            InputTypes types, boolean guessing) {
        this.graph = graph;
        this.guessing = guessing;
        this.types = types;
        for (SymbolNode node : graph.nodes()) {
            if (node.isVariable()) {
                Tensor value = parameters.get(node.name());
                results.put(node.index(), List.of(writer.known(value == null
                        ? feed(node.name(), Objects.requireNonNull(inputs.get(node.name())))
                        : model.parameter(node.name(), value))));
            }
        }
    }

    private Ref feed(String name, ArgType type) {
        return model.feed(name, type.dtype(), type.dims());
    }

    /** Translates all nodes. */
    void translate() throws FileFormatException {
        for (SymbolNode node : graph.nodes()) {
            if (!node.isVariable()) {
                translate(node);
            }
        }
    }

    private void translate(SymbolNode node) throws FileFormatException {
        Translator translator = Translators.find(node.operator());
        if (translator == null) {
            throw new IllegalStateException("There is no translator of " + node);
        }
        try {
            List<String> outputs = translator.translate(inputs(node));
            List<String> names = OutputNames.of(node, outputs.size());
            for (int i = 0; i < outputs.size(); i++) {
                model.name(writer.ref(outputs.get(i)), names.get(i));
            }
            results.put(node.index(), outputs);
        } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
            throw new FileFormatException(graph.source(), node + ": " + e.getMessage(), e);
        }
    }

    /** The variable of a node's output. */
    String variable(SymbolEntry entry) {
        List<String> outputs = results.getOrDefault(entry.node(), List.of());
        if (entry.output() >= outputs.size()) {
            throw new IllegalArgumentException("output " + entry.output() + " of " + graph.nodes().get(entry.node())
                    + " is read, but only " + outputs.size() + " of its outputs are computed");
        }
        return outputs.get(entry.output());
    }

    /** How many outputs of a node are computed. */
    int outputs(SymbolNode node) {
        return results.getOrDefault(node.index(), List.of()).size();
    }

    NodeInputs inputs(SymbolNode node) {
        return new NodeInputs(this, node, node.inputs().stream().map(this::variable).toList());
    }

    SymbolNode node(int index) {
        return graph.nodes().get(index);
    }

    @Nullable
    Tensor parameter(String name) {
        return model.value(writer.ref(name));
    }

    /** The number of dimensions that follows from the file; null if it is an assumption. */
    @Nullable
    Integer certainRank(SymbolEntry entry) {
        return types.rank(entry);
    }

    BlockWriter writer() {
        return writer;
    }

    Ops ops() {
        return ops;
    }

    ModelBuilder model() {
        return model;
    }

    boolean isGuessing() {
        return guessing;
    }

    void open(String variable, double value, long[] dims) {
        open.put(variable, new Open(value, Arrays.stream(dims).boxed().toList()));
    }

    long @Nullable [] openDims(String variable) {
        Open constant = open.get(variable);
        return constant == null ? null : constant.dims().stream().mapToLong(Long::longValue).toArray();
    }

    double openValue(String variable) {
        Open constant = open.get(variable);
        return constant == null ? 0 : constant.value();
    }
}

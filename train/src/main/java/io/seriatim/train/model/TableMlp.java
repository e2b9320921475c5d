package io.seriatim.train.model;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.train.Model;
import io.seriatim.train.data.Field;
import io.seriatim.train.data.TableEncoding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A classifier of the rows of a table: numbers and embeddings of categories, then linear layers with ReLU between them.
 * Unlike those of other networks, its output is a softmax: the probability of each class.
 *
 * @param encoding
 *            the columns and classes
 * @param hidden
 *            the widths of the hidden layers, each at least 1; empty for a linear model
 */
public record TableMlp(TableEncoding encoding, List<Integer> hidden) implements Architecture {
    /**
     * Checks the widths.
     *
     * @throws IllegalArgumentException
     *             if a width is less than 1
     */
    public TableMlp {
        hidden = List.copyOf(hidden);
        if (hidden.stream().anyMatch(width -> width < 1)) {
            throw new IllegalArgumentException("The widths of a table's network must be at least 1, but are " + hidden);
        }
    }

    /**
     * Creates a network with two hidden layers of widths 64 and 32.
     *
     * @param encoding
     *            the columns and classes
     */
    public TableMlp(TableEncoding encoding) {
        this(encoding, List.of(64, 32));
    }

    @Override
    public String name() {
        return "table";
    }

    @Override
    public Recipe recipe() {
        return Recipe.of(32, 20, 3e-3).withWarmUp(20).withDecay(0.1);
    }

    @Override
    public Model build(Recipe recipe, long steps) {
        List<String> feeds = encoding.fields().stream().map(Field::name).toList();
        return Training.model(name(), feeds, recipe, steps, "rows", 1, graph -> {
            Value logits = logits(graph, recipe.dropout());
            Value labels = graph.data(encoding.label(), DType.INT64, -1, 1);
            Map<String, Value> metrics = new LinkedHashMap<>();
            Value loss = graph.softmaxCrossEntropy(logits, labels).mean();
            metrics.put("accuracy", graph.accuracy(logits, labels, 1));
            return new Training("probabilities", logits.softmax(-1), loss, metrics);
        });
    }

    private Value logits(Graph graph, double dropout) {
        Value x = encoding.features(graph);
        for (int width : hidden) {
            x = graph.dropout(graph.linear(x, width).relu(), dropout);
        }
        return graph.linear(x, encoding.classes().size());
    }
}

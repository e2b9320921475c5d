package io.seriatim.train.model;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Value;
import io.seriatim.train.Model;
import io.seriatim.train.data.Field;
import java.util.List;

/**
 * Linear layers with ReLU between them: a classifier if the labels are integers, otherwise a regression with the mean
 * squared error.
 *
 * @param input
 *            float32 of any shape, which is flattened
 * @param target
 *            a class number, or float32 of any shape, which is flattened
 * @param outputs
 *            the number of classes, at least 2, or the number of elements of the target
 * @param hidden
 *            the widths of the hidden layers, each at least 1; empty for a linear model
 */
public record Mlp(Field input, Field target, int outputs, List<Integer> hidden) implements Architecture {
    /**
     * Checks the sizes.
     *
     * @throws IllegalArgumentException
     *             if a field has another type, or a width is less than 1
     */
    public Mlp {
        hidden = List.copyOf(hidden);
        Labels fields = new Labels(input, target);
        if (fields.areClasses()) {
            fields.checkClasses("mlp", outputs);
        } else if (target.shape().size() != outputs || outputs < 1) {
            throw new IllegalArgumentException(
                    "The outputs of mlp must be as many as its target has elements, but are " + outputs
                            + ", and field '" + target.name() + "' has shape " + target.shape());
        }
        if (hidden.stream().anyMatch(width -> width < 1)) {
            throw new IllegalArgumentException("The widths of mlp must be at least 1, but are " + hidden);
        }
    }

    /**
     * Creates a network with two hidden layers of widths 256 and 128.
     *
     * @param input
     *            float32 of any shape
     * @param target
     *            a class number, or float32 of any shape
     * @param outputs
     *            the number of classes, or the number of elements of the target
     */
    public Mlp(Field input, Field target, int outputs) {
        this(input, target, outputs, List.of(256, 128));
    }

    @Override
    public String name() {
        return "mlp";
    }

    @Override
    public Recipe recipe() {
        return Recipe.of(64, 12, 2e-3).withWarmUp(50).withDecay(0.2);
    }

    @Override
    public Model build(Recipe recipe, long steps) {
        Labels fields = new Labels(input, target);
        return Training.model(name(), List.of(input.name(), target.name()), recipe, steps, "examples", 1, graph -> {
            Value output = output(graph, recipe.dropout());
            return fields.areClasses() ? fields.classification(graph, output) : fields.regression(graph, output);
        });
    }

    private Value output(Graph graph, double dropout) {
        Value x = Labels.feed(graph, input).reshape(-1, Math.toIntExact(input.shape().size()));
        for (int width : hidden) {
            x = graph.dropout(graph.linear(x, width).relu(), dropout);
        }
        return graph.linear(x, outputs);
    }
}

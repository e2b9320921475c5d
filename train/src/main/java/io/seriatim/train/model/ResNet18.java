package io.seriatim.train.model;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Value;
import io.seriatim.train.Model;
import io.seriatim.train.data.Field;
import java.util.List;

/**
 * A residual network of 18 layers (He et al., 2016), as {@code paddle.vision.models.resnet18}. For images smaller than
 * 64 pixels, the first convolution is 3×3 with stride 1 and without pooling, as in that paper's networks for small
 * images.
 *
 * @param image
 *            float32 [channels, height, width]
 * @param label
 *            a class number
 * @param classes
 *            the number of classes, at least 2
 */
public record ResNet18(Field image, Field label, int classes) implements Architecture {
    private static final int[] WIDTHS = {64, 128, 256, 512};
    private static final int SMALL = 64;

    /**
     * Checks the sizes.
     *
     * @throws IllegalArgumentException
     *             if fields are not an image and a class number
     */
    public ResNet18 {
        Labels fields = new Labels(image, label);
        fields.checkClasses("resnet18", classes);
        fields.image("resnet18");
    }

    @Override
    public String name() {
        return "resnet18";
    }

    @Override
    public Recipe recipe() {
        return Recipe.of(32, 3, 1e-3).withWarmUp(100).withDecay(0.05);
    }

    @Override
    public Model build(Recipe recipe, long steps) {
        Labels fields = new Labels(image, label);
        return Training.model(name(), List.of(image.name(), label.name()), recipe, steps, "images", 1, graph -> {
            Value x = stem(graph, Labels.feed(graph, image));
            for (int stage = 0; stage < WIDTHS.length; stage++) {
                x = block(graph, x, WIDTHS[stage], stage == 0 ? 1 : 2);
                x = block(graph, x, WIDTHS[stage], 1);
            }
            Value features = graph.dropout(x.globalAveragePool2d().flatten(1), recipe.dropout());
            return fields.classification(graph, graph.linear(features, classes));
        });
    }

    private static Value stem(Graph graph, Value x) {
        boolean small = Math.min(x.dim(2), x.dim(3)) < SMALL;
        Value y = normalised(graph, x, WIDTHS[0], small ? 3 : 7, small ? 1 : 2).relu();
        return small ? y : y.maxPool2d(3, 2, 1);
    }

    /** Appends a convolution without bias, because the following normalisation would cancel it. */
    private static Value normalised(Graph graph, Value x, int filters, int kernel, int stride) {
        return graph.batchNorm(
                graph.layers().conv2d(x.dim(1), filters, kernel).stride(stride).padding(kernel / 2).noBias().apply(x));
    }

    private static Value block(Graph graph, Value x, int filters, int stride) {
        Value y = normalised(graph, normalised(graph, x, filters, 3, stride).relu(), filters, 3, 1);
        boolean same = stride == 1 && x.dim(1) == filters;
        return y.plus(same ? x : normalised(graph, x, filters, 1, stride)).relu();
    }
}

package io.seriatim.train.model;

import io.seriatim.graph.Value;
import io.seriatim.train.Model;
import io.seriatim.train.data.Field;
import java.util.List;

/**
 * LeNet with the sizes of {@code paddle.vision.models.LeNet} of PaddlePaddle 2.6 (after LeCun et al., 1998): two
 * convolutions with pooling, then three linear layers with ReLU between them, which PaddlePaddle's model lacks.
 *
 * @param image
 *            float32 [channels, height, width], at least 14×14; MNIST's is [1, 28, 28]
 * @param label
 *            a class number
 * @param classes
 *            the number of classes, at least 2
 */
public record LeNet(Field image, Field label, int classes) implements Architecture {
    /**
     * Checks the sizes.
     *
     * @throws IllegalArgumentException
     *             if fields are not an image and a class number, or images are too small
     */
    public LeNet {
        Labels fields = new Labels(image, label);
        fields.checkClasses("lenet", classes);
        long[] dims = fields.image("lenet");
        if (Math.min(dims[1], dims[2]) < 14) {
            throw new IllegalArgumentException(
                    "The images of lenet must be at least 14 by 14, but are " + image.shape() + ": take mlp for them");
        }
    }

    @Override
    public String name() {
        return "lenet";
    }

    @Override
    public Recipe recipe() {
        return Recipe.of(64, 12, 6e-3).withWarmUp(50).withDecay(0.2);
    }

    @Override
    public Model build(Recipe recipe, long steps) {
        Labels fields = new Labels(image, label);
        return Training.model(name(), List.of(image.name(), label.name()), recipe, steps, "images", 1, graph -> {
            Value x = Labels.feed(graph, image);
            Value first = graph.conv2d(x, 6, 3, 1, 1).relu().maxPool2d(2, 2, 0);
            Value second = graph.conv2d(first, 16, 5, 1, 0).relu().maxPool2d(2, 2, 0);
            Value hidden = graph.linear(graph.linear(second.flatten(1), 120).relu(), 84).relu();
            return fields.classification(graph, graph.linear(hidden, classes));
        });
    }
}

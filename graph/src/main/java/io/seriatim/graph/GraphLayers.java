package io.seriatim.graph;

import io.seriatim.graph.util.Ranges;

/** The part of a {@link Graph} that adds layers used once, and losses. */
abstract sealed class GraphLayers extends GraphTensors permits GraphTraining {
    /**
     * Layers that are made before they are used, or used more than once.
     *
     * @return makes them
     */
    public abstract Layers layers();

    abstract Graph graph();

    abstract int seed();

    /**
     * A fully connected layer: x·W + b.
     *
     * @param x
     *            [..., in]
     * @param out
     *            how many outputs
     * @return [..., out]
     */
    public Value linear(Value x, long out) {
        return layers().linear(x.dim(-1), out).apply(x);
    }

    /**
     * A convolution with bias.
     *
     * @param x
     *            [n, channels, height, width]
     * @param filters
     *            how many output channels
     * @param kernel
     *            height and width of the kernel
     * @param stride
     *            in both dimensions
     * @param padding
     *            at each border
     * @return [n, filters, height', width']
     */
    public Value conv2d(Value x, long filters, int kernel, int stride, int padding) {
        return layers().conv2d(x.dim(1), filters, kernel).stride(stride).padding(padding).apply(x);
    }

    /**
     * Rows of a table.
     *
     * @param ids
     *            int32 or int64, any shape
     * @param rows
     *            of the table
     * @param width
     *            of a row
     * @return the shape of the ids, and width
     */
    public Value embedding(Value ids, long rows, long width) {
        return layers().embedding(rows, width).apply(ids);
    }

    /**
     * Batch normalisation with running statistics.
     *
     * @param x
     *            [n, channels, ...]
     * @return of its shape
     */
    public Value batchNorm(Value x) {
        return layers().batchNorm(x.dim(1)).apply(x);
    }

    /**
     * Layer normalisation of the last dimension.
     *
     * @param x
     *            [..., width]
     * @return of its shape
     */
    public Value layerNorm(Value x) {
        return layers().layerNorm(x.dim(-1)).apply(x);
    }

    /**
     * Clears elements at random in training, and scales the others up.
     *
     * @param x
     *            any shape
     * @param probability
     *            of clearing an element; 0 adds no operation
     * @return of its shape
     */
    public Value dropout(Value x, double probability) {
        Ranges.probability("The probability of clearing an element", probability);
        return probability == 0
                ? x
                : op("dropout").in("X", x).attr("dropout_prob", (float) probability).attr("is_test", false)
                        .attr("fix_seed", seed() != 0)
                        .attr("seed", seed()).attr("dropout_implementation", "upscale_in_train").all("Out", "Mask")
                        .getFirst();
    }

    /**
     * Softmax with cross entropy, without a mean.
     *
     * @param logits
     *            [..., classes]
     * @param labels
     *            class numbers, int32 or int64, [..., 1] or [...]
     * @return the loss of each row, [..., 1]
     */
    public Value softmaxCrossEntropy(Value logits, Value labels) {
        return Losses.softmaxCrossEntropy(graph(), logits, labels, false, -1, -100);
    }

    /**
     * Softmax with cross entropy, with all that it takes.
     *
     * @param logits
     *            classes along the axis
     * @param labels
     *            class numbers, or probabilities of the logits' shape
     * @param soft
     *            whether labels are probabilities
     * @param axis
     *            of the classes, from −rank
     * @param ignoreIndex
     *            a label without loss
     * @return the loss of each row, with the axis of length 1
     */
    public Value softmaxCrossEntropy(Value logits, Value labels, boolean soft, int axis, int ignoreIndex) {
        return Losses.softmaxCrossEntropy(graph(), logits, labels, soft, axis, ignoreIndex);
    }

    /**
     * The mean of squared differences.
     *
     * @param prediction
     *            any shape
     * @param target
     *            of its shape
     * @return without dimensions
     */
    public Value meanSquaredError(Value prediction, Value target) {
        return prediction.minusNamed(target).square().mean();
    }

    /**
     * The binary cross entropy of sigmoid(logits).
     *
     * @param logits
     *            any shape
     * @param labels
     *            probabilities, of its shape
     * @return of its shape
     */
    public Value sigmoidCrossEntropy(Value logits, Value labels) {
        return op("sigmoid_cross_entropy_with_logits").in("X", logits).in("Label", labels).one("Out");
    }

    /**
     * The binary cross entropy of probabilities.
     *
     * @param probabilities
     *            any shape
     * @param labels
     *            probabilities, of its shape
     * @return of its shape
     */
    public Value binaryCrossEntropy(Value probabilities, Value labels) {
        return op("bce_loss").in("X", probabilities).in("Label", labels).one("Out");
    }

    /**
     * Huber's loss: squared up to delta, linear beyond.
     *
     * @param prediction
     *            any shape
     * @param target
     *            of its shape
     * @param delta
     *            where it changes
     * @return of its shape
     */
    public Value huber(Value prediction, Value target, double delta) {
        return op("huber_loss").in("X", prediction).in("Y", target).attr("delta", (float) delta).all("Out", "Residual")
                .getFirst();
    }

    /**
     * The part of rows whose label is among the highest scores.
     *
     * @param scores
     *            [n, classes]
     * @param labels
     *            class numbers, [n, 1]
     * @param k
     *            how many scores count
     * @return without dimensions, from 0 to 1
     */
    public Value accuracy(Value scores, Value labels, int k) {
        return Losses.accuracy(graph(), scores, labels, k);
    }
}

package io.seriatim.train.model;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.train.data.Field;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** The two fields of labelled data: the input and the target. */
record Labels(Field input, Field target) {
    /** Validates the requirements of all networks of images and vectors. */
    Labels {
        if (input.dtype() != DType.FLOAT32) {
            throw new IllegalArgumentException(
                    "The field '" + input.name() + "' must be float32, but is " + input.dtype()
                            + ": convert the data to float32 before");
        }
        if (input.name().equals(target.name())) {
            throw new IllegalArgumentException(
                    "The two fields must have different names, but are both '" + input.name() + "'");
        }
    }

    boolean areClasses() {
        return !target.dtype().isFloating();
    }

    /** Throws unless the target is one class number per example. */
    void checkClasses(String network, int classes) {
        if (target.dtype() != DType.INT64 && target.dtype() != DType.INT32) {
            throw new IllegalArgumentException(
                    "The labels of " + network + " must be class numbers, int64 or int32, but field '" + target.name()
                            + "' is " + target.dtype() + ": take mlp for them");
        }
        if (target.shape().size() != 1) {
            throw new IllegalArgumentException(
                    "The labels of " + network + " must be one class number for each example, but field '"
                            + target.name() + "' has shape " + target.shape());
        }
        if (classes < 2) {
            throw new IllegalArgumentException("The classes of " + network + " must be at least 2, but are " + classes);
        }
    }

    /** Returns the channels, height and width of images. */
    long[] image(String network) {
        Shape shape = input.shape();
        if (shape.rank() != 3) {
            throw new IllegalArgumentException(
                    "The images of " + network + " must be [channels, height, width], but field '" + input.name()
                            + "' has shape " + shape + ": take mlp for them");
        }
        return shape.dims();
    }

    static Value feed(Graph graph, Field field) {
        long[] dims = field.shape().dims();
        long[] batched = new long[dims.length + 1];
        batched[0] = -1;
        System.arraycopy(dims, 0, batched, 1, dims.length);
        return graph.data(field.name(), field.dtype(), batched);
    }

    /** Appends cross entropy and accuracy. */
    Training classification(Graph graph, Value logits) {
        Value labels = feed(graph, target).reshape(-1, 1);
        Map<String, Value> metrics = new LinkedHashMap<>();
        Value loss = graph.softmaxCrossEntropy(logits, labels).mean();
        metrics.put("accuracy", graph.accuracy(logits, labels, 1));
        return new Training("logits", logits, loss, metrics);
    }

    /** Appends the mean squared error and the mean absolute error. */
    Training regression(Graph graph, Value prediction) {
        Value wanted = feed(graph, target).reshape(-1,
                Math.toIntExact(Arrays.stream(target.shape().dims()).reduce(1, Math::multiplyExact)));
        Map<String, Value> metrics = new LinkedHashMap<>();
        Value loss = graph.meanSquaredError(prediction, wanted);
        metrics.put("absolute error", prediction.minus(wanted).abs().mean());
        return new Training("prediction", prediction, loss, metrics);
    }
}

package io.seriatim.train.model;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.train.Model;
import io.seriatim.train.data.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A model that was loaded from a file of any format, to be trained further: it gets a loss and an optimizer.
 *
 * @param name
 *            the name for display
 * @param model
 *            the model, which stays open while it is trained
 * @param output
 *            the fetch from which the loss is computed, or null if there is only one
 * @param loss
 *            the loss
 */
public record LoadedModel(String name, InferenceModel model, @Nullable String output, Loss loss) {
    /** The losses, each the mean over a batch. */
    public enum Loss {
        /** Of softmax and class numbers. If the output is that of a softmax, its input is used instead. */
        CROSS_ENTROPY,
        /** The mean of squared differences to values. */
        MSE
    }

    private static final Recipe RECIPE = Recipe.of(64, 1, 1e-3);

    /**
     * Checks the output.
     *
     * @throws IllegalArgumentException
     *             if it is not one of the model's fetches, or is not given although there are several
     */
    public LoadedModel {
        if (output == null ? model.fetches().size() != 1 : !model.fetches().contains(output)) {
            throw new IllegalArgumentException("The loss of '" + name + "' is computed from one of its outputs "
                    + model.fetches() + ", but " + (output == null ? "none is given" : "'" + output + "' is given"));
        }
    }

    /**
     * Returns the default settings of a training: AdamW at a constant rate without decay, one pass over the data.
     *
     * @return the recipe
     */
    public static Recipe recipe() {
        return RECIPE;
    }

    /**
     * Returns the batch size that the model fixes.
     *
     * @return the first dimension of a feed; 0 if no feed fixes it
     */
    public int batch() {
        for (String feed : model.feeds()) {
            VarType.TensorType type = model.program().global().get(feed).type().tensorType();
            if (type != null && !type.dims().isEmpty() && type.dims().getFirst() > 0) {
                return Math.toIntExact(type.dims().getFirst());
            }
        }
        return 0;
    }

    /**
     * Returns a name for the labels.
     *
     * @return one that no variable of the model has
     */
    public String labels() {
        String labels = "labels";
        while (model.program().global().var(labels) != null) {
            labels += "_";
        }
        return labels;
    }

    /**
     * Builds the model with its loss and its optimizer.
     *
     * @param target
     *            the field with the labels, the last of the data; the fields before are the model's feeds, in order
     * @param recipe
     *            the settings of the training
     * @param steps
     *            the number of steps of the whole training, at least 1, over which the learning rate decreases
     * @return the model, whose inference model has the feeds and fetches of this one
     * @throws IllegalArgumentException
     *             if the labels do not match the output, or operations before the loss have no gradient; the message
     *             names all of them
     */
    public Model build(Field target, Recipe recipe, long steps) {
        List<Training> parts = new ArrayList<>();
        List<Program> evaluations = new ArrayList<>();
        String labels = labels();
        Network network = Network.from(model, graph -> {
            Training training = training(graph, new Field(labels, target.dtype(), target.shape()));
            parts.add(training);
            evaluations.add(graph.main().copyForTest());
            graph.minimize(training.loss(), recipe.optimizer(steps,
                    parameter -> Objects.requireNonNull(graph.main().global().var(parameter)).tensor().dims()
                            .size() > 1));
            return Outputs.of("loss", training.loss());
        });
        network.main().randomSeed(recipe.seed());
        network.startup().randomSeed(recipe.seed());
        Training training = parts.getFirst();
        Map<String, String> metrics = new LinkedHashMap<>();
        training.metrics().forEach((metric, value) -> metrics.put(metric, value.name()));
        List<String> feeds = new ArrayList<>(model.feeds());
        feeds.add(labels);
        return new Model(name, network.main(), network.startup(), evaluations.getFirst(), feeds, training.loss().name(),
                metrics, network.schedules(), model.feeds(), model.fetches(), "examples", 1, network.values());
    }

    private Training training(Graph graph, Field target) {
        String from = output == null ? model.fetches().getFirst() : output;
        Value predicted = graph.var(loss == Loss.CROSS_ENTROPY ? logits(graph.main().global(), from) : from);
        if (!predicted.dtype().isFloating()) {
            throw new IllegalArgumentException("A loss is computed from floating-point numbers, but the output '" + from
                    + "' is " + predicted.type());
        }
        Value given = Labels.feed(graph, target);
        return loss == Loss.CROSS_ENTROPY
                ? classification(graph, predicted, given, target)
                : regression(graph, predicted, given, target);
    }

    /** The input of the softmax that computes a variable, through operations that change nothing; else the variable. */
    private static String logits(Block block, String output) {
        String name = output;
        while (true) {
            OpDesc writer = writer(block, name);
            if (writer == null || (!isSoftmax(block, writer) && !isIdentity(writer))) {
                return output;
            }
            name = writer.input("X").getFirst();
            if (!isIdentity(writer)) {
                return name;
            }
        }
    }

    private static @Nullable OpDesc writer(Block block, String name) {
        return block.ops().reversed().stream().filter(op -> op.outputNames().contains(name)).findFirst().orElse(null);
    }

    private static boolean isIdentity(OpDesc op) {
        return op.type().equals("assign") || (op.type().equals("scale") && op.input("ScaleTensor").isEmpty()
                && op.attribute("scale") instanceof Attribute.Real(float scale) && scale == 1
                && op.attribute("bias") instanceof Attribute.Real(float bias) && bias == 0);
    }

    private static boolean isSoftmax(Block block, OpDesc op) {
        if (!op.type().equals("softmax")) {
            return false;
        }
        int rank = block.get(op.input("X").getFirst()).tensor().dims().size();
        int axis = op.attribute("axis") instanceof Attribute.Int(int given) ? given : -1;
        return axis == -1 || axis == rank - 1;
    }

    private Training classification(Graph graph, Value logits, Value labels, Field target) {
        if (target.dtype() != DType.INT64 && target.dtype() != DType.INT32) {
            throw new IllegalArgumentException(
                    "The labels of a cross-entropy must be class numbers, int64 or int32, but "
                            + "are " + target.dtype() + ": take the loss mse for values");
        }
        Map<String, Value> metrics = new LinkedHashMap<>();
        if (logits.rank() == 2) {
            Value column = labels.reshape(-1, 1);
            Value mean = graph.softmaxCrossEntropy(logits, column).mean();
            metrics.put("accuracy",
                    graph.accuracy(logits.dtype() == DType.FLOAT32 ? logits : logits.cast(DType.FLOAT32),
                            column, 1));
            return new Training(logits.name(), logits, mean, metrics);
        }
        int labelRank = target.shape().rank() + 1;
        if (logits.rank() < 2 || (labelRank != logits.rank() - 1 && labelRank != logits.rank())) {
            throw new IllegalArgumentException(
                    "The labels of a cross-entropy are class numbers, one for each row of the "
                            + "output " + logits.type() + ", but each example has labels of the shape "
                            + target.shape());
        }
        // Classes are along the last axis, as in text, or the second one, as in images.
        int axis = matches(logits, target, logits.rank() - 1) || !matches(logits, target, 1) ? -1 : 1;
        return new Training(logits.name(), logits,
                graph.softmaxCrossEntropy(logits, labels, false, axis, -100).mean(), metrics);
    }

    /** Whether labels have the dimensions of the logits without those of the classes. */
    private static boolean matches(Value logits, Field target, int axis) {
        List<Long> wanted = new ArrayList<>(logits.shape());
        wanted.remove(axis);
        boolean matches = true;
        for (int i = 1; i < Math.min(wanted.size(), target.shape().rank() + 1); i++) {
            matches &= wanted.get(i) < 0 || wanted.get(i) == target.shape().dim(i - 1);
        }
        return matches;
    }

    private Training regression(Graph graph, Value predicted, Value labels, Field target) {
        if (target.dtype() != predicted.dtype()) {
            throw new IllegalArgumentException("The labels of a mean squared error must be of the output's type, "
                    + predicted.dtype() + ", but are " + target.dtype());
        }
        List<Long> dims = predicted.shape();
        long size = dims.stream().skip(1).reduce(1L, (left, right) -> left * right);
        if (size >= 0 && size != target.shape().size()) {
            throw new IllegalArgumentException("The labels must be as many values as the output " + predicted.type()
                    + " has for each example, but have the shape " + target.shape());
        }
        int[] batched = dims.stream().mapToInt(Long::intValue).toArray();
        if (batched.length > 0) {
            batched[0] = -1;
        }
        boolean open = dims.stream().skip(1).anyMatch(dim -> dim < 0);
        Value wanted = open || batched.length == 0 ? labels : labels.reshape(batched);
        Map<String, Value> metrics = new LinkedHashMap<>();
        metrics.put("absolute error", predicted.minus(wanted).abs().mean());
        return new Training(predicted.name(), predicted, graph.meanSquaredError(predicted, wanted), metrics);
    }
}

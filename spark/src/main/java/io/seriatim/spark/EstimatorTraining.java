package io.seriatim.spark;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.train.Model;
import io.seriatim.train.data.Field;
import io.seriatim.train.model.LoadedModel;
import io.seriatim.train.model.Mlp;
import io.seriatim.train.model.Recipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.jspecify.annotations.Nullable;

/**
 * Trains the network of an estimator.
 *
 * @param estimator
 *            with the params
 * @param examples
 *            the columns of features and labels
 * @param settings
 *            of Hadoop
 */
record EstimatorTraining(SeriatimEstimator<?, ?> estimator, Dataset<Row> examples, Configuration settings) {
    ModelFiles run() throws IOException {
        int count = Math.toIntExact(Math.min(examples.count(), Integer.MAX_VALUE));
        if (count == 0) {
            throw new IllegalArgumentException("There are no rows to fit " + estimator.uid() + " to");
        }
        int outputs = estimator.outputs(examples);
        Recipe recipe = Recipe.of(estimator.getBatchSize(), estimator.getMaxIter(), estimator.getLearningRate())
                .withDecay(estimator.getWeightDecay())
                .withDropout(estimator.getDropout()).withSeed(estimator.getSeed());
        long steps = Math.max(1, recipe.steps(count));
        if (estimator.getModelFile().isEmpty()) {
            Numbers cell = new Numbers(estimator.getFeaturesCol(), DType.FLOAT32);
            Field features = new Field("features", DType.FLOAT32, Shape.of(cell.count(examples.first().get(0))));
            Field label = new Field("label", estimator.labelType(), Shape.of(1));
            List<Integer> widths = Arrays.stream(estimator.getHiddenLayers()).boxed().toList();
            return train(new Mlp(features, label, outputs, widths).build(recipe, steps));
        }
        ModelFiles files = ModelFiles.read(estimator.getModelFile(), new String[0], settings);
        try (InferenceModel loaded = files.load()) {
            if (loaded.feeds().size() != 1) {
                throw new IllegalArgumentException(
                        "The model " + estimator.getModelFile() + " has the inputs " + loaded.feeds()
                                + ", but an estimator feeds one, the features: train it by SparkTraining");
            }
            LoadedModel model = new LoadedModel(files.name(), loaded, null, estimator.loss());
            return train(model.build(new Field(model.labels(), estimator.labelType(), Shape.of(1)), recipe, steps));
        }
    }

    private ModelFiles train(Model model) throws IOException {
        SparkTraining training = SparkTraining.of(withScores(model, estimator.getFeaturesCol()), examples)
                .columns(estimator.getFeaturesCol(), estimator.getLabelCol()).batch(estimator.getBatchSize())
                .epochs(estimator.getMaxIter()).seed(estimator.getSeed())
                .ranks(ranks()).exchange(estimator.exchange());
        String folder = estimator.getCheckpointDir().isEmpty()
                ? null
                : estimator.getCheckpointDir() + "/" + estimator.uid() + "-" + UUID.randomUUID();
        if (folder != null) {
            training.checkpoints(folder);
        }
        Path saved = Files.createTempDirectory("seriatim-fitted");
        try (SparkTraining.Result result = training.fit()) {
            InferenceModels.save(saved.resolve("model.pdmodel"), result.model());
            ModelFiles files = ModelFiles.read(saved.resolve("model.pdmodel").toUri().toString(), new String[0],
                    settings);
            delete(folder, settings);
            return files;
        } finally {
            for (String each : List.of("model.pdmodel", "model.pdiparams")) {
                Files.deleteIfExists(saved.resolve(each));
            }
            Files.delete(saved);
        }
    }

    private static void delete(@Nullable String folder, Configuration settings) throws IOException {
        if (folder != null) {
            org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(folder);
            path.getFileSystem(settings).delete(path, true);
        }
    }

    private int ranks() {
        if (estimator.getNumRanks() > 0) {
            return estimator.getNumRanks();
        }
        int ranks = Math.max(1,
                Math.min(estimator.getBatchSize(), examples.sparkSession().sparkContext().defaultParallelism()));
        while (estimator.getBatchSize() % ranks != 0) {
            ranks--;
        }
        return ranks;
    }

    /** Returns the model with the input of the cross-entropy as its only output, and checks that it has rows. */
    private static Model withScores(Model model, String features) {
        List<String> outputs = model.evaluation().global().ops().stream()
                .filter(op -> op.type().equals("softmax_with_cross_entropy"))
                .map(op -> op.input("Logits").getFirst()).toList();
        List<String> fetched = outputs.isEmpty() ? model.outputs() : List.of(outputs.getLast());
        VarType.TensorType type = model.evaluation().global().get(fetched.getFirst()).tensor();
        if (type.dims().isEmpty() || type.dims().size() > 2) {
            throw new IllegalArgumentException("The model's output for column '" + features + "' is " + type
                    + ", but an estimator takes one row of numbers for each row: [-1, outputs]");
        }
        return new Model(model.name(), model.main(), model.startup(), model.evaluation(), model.feeds(), model.loss(),
                model.metrics(), model.schedules(), model.inputs(), fetched, model.unit(), model.unitsPerExample(),
                model.values(), model.named());
    }
}

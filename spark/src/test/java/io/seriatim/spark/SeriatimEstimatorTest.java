package io.seriatim.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Predictor;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.evaluation.MulticlassClassificationEvaluator;
import org.apache.spark.ml.evaluation.RegressionEvaluator;
import org.apache.spark.ml.feature.StringIndexer;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.tuning.CrossValidator;
import org.apache.spark.ml.tuning.CrossValidatorModel;
import org.apache.spark.ml.tuning.ParamGridBuilder;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Fits classifiers and regressors as stages of Spark ML. */
class SeriatimEstimatorTest {
    private static final int ROWS = 240;
    private static final List<String> NAMES = List.of("red", "green", "blue");
    private static SparkSession spark;
    private static Dataset<Row> rows;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() {
        spark = LocalSpark.session();
        rows = computed();
    }

    @AfterAll
    static void free() {
        rows.unpersist();
    }

    /** Two numbers, a class that they decide with its name, and a value. */
    private static Dataset<Row> rows() {
        return rows;
    }

    private static Dataset<Row> computed() {
        SplittableRandom random = new SplittableRandom(11);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            double a = 2 * random.nextDouble() - 1;
            double b = 2 * random.nextDouble() - 1;
            int kind = a > 0 ? b > 0 ? 1 : 0 : 2;
            rows.add(RowFactory.create(a, b, (double) kind, NAMES.get(kind), 3 * a - b + 0.5));
        }
        return spark.createDataFrame(rows, new StructType().add("a", DataTypes.DoubleType)
                .add("b", DataTypes.DoubleType).add("label", DataTypes.DoubleType).add("name", DataTypes.StringType)
                .add("value", DataTypes.DoubleType)).repartition(2).cache();
    }

    private static VectorAssembler assembler() {
        return new VectorAssembler().setInputCols(new String[]{"a", "b"}).setOutputCol("features");
    }

    private static SeriatimClassifier classifier() {
        return new SeriatimClassifier().setHiddenLayers(16).setMaxIter(12).setBatchSize(20).setLearningRate(0.02)
                .setNumRanks(2).setSeed(3);
    }

    private static double accuracy(Dataset<Row> scored, String label) {
        return new MulticlassClassificationEvaluator().setMetricName("accuracy").setLabelCol(label).evaluate(scored);
    }

    private static Dataset<Row> ordered(Dataset<Row> rows) {
        return rows.orderBy("a", "b");
    }

    private Path save(String file, Function<Graph, Outputs> body) throws IOException {
        Network network = Network.define(body);
        Path saved = folder.resolve(file);
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup().copy().randomSeed(5));
            InferenceModels.save(saved, InferenceModels.of(network, executor.scope()::find));
        }
        return saved;
    }

    @Test
    void aPipelineWithAClassifierIsFittedSavedAndLoaded() throws IOException {
        Pipeline pipeline = new Pipeline().setStages(new PipelineStage[]{assembler(),
                new StringIndexer().setInputCol("name").setOutputCol("kind").setStringOrderType("alphabetAsc"),
                classifier().setNumRanks(1).setLabelCol("kind").setProbabilityCol("p")});
        // Spark checks the schema of all stages first.
        assertEquals(List.of("a", "b", "label", "name", "value", "features", "kind", "rawPrediction", "p",
                "prediction"), List.of(pipeline.transformSchema(rows().schema()).fieldNames()));
        pipeline.write().overwrite().save(folder.resolve("pipeline").toString());
        PipelineModel fitted = Pipeline.load(folder.resolve("pipeline").toString()).fit(rows());
        Dataset<Row> scored = fitted.transform(rows());
        double accuracy = accuracy(scored, "kind");
        assertTrue(accuracy > 0.9, "accuracy: " + accuracy);
        for (Row row : scored.collectAsList()) {
            Vector raw = row.getAs("rawPrediction");
            Vector probability = row.getAs("p");
            double sum = 0;
            for (double each : raw.toArray()) {
                sum += Math.exp(each);
            }
            for (int i = 0; i < NAMES.size(); i++) {
                assertEquals(Math.exp(raw.apply(i)) / sum, probability.apply(i), 1e-12, row::toString);
            }
            assertEquals(probability.argmax(), row.<Double>getAs("prediction"), row::toString);
        }
        fitted.save(folder.resolve("fitted").toString());
        PipelineModel loaded = PipelineModel.load(folder.resolve("fitted").toString());
        assertEquals(ordered(scored).collectAsList(), ordered(loaded.transform(rows())).collectAsList());
        SeriatimClassificationModel model = (SeriatimClassificationModel) loaded.stages()[2];
        assertEquals(3, model.numClasses());
        assertEquals(2, model.numFeatures());
        assertEquals("kind", model.getLabelCol());
        // The network computes the scores elsewhere, too.
        Path file = folder.resolve("scores.onnx");
        try (InferenceModel network = model.network()) {
            InferenceModels.save(file, network);
        }
        Row first = scored.first();
        try (Predictor predictor = Predictor.load(file)) {
            float[] scores = predictor.run(Map.of(predictor.inputs().getFirst().name(),
                    Tensor.of(new float[]{(float) first.getDouble(0), (float) first.getDouble(1)}, 1, 2)))
                    .get(predictor.outputs().getFirst().name()).toFloatArray();
            Vector raw = first.getAs("rawPrediction");
            for (int i = 0; i < scores.length; i++) {
                assertEquals(raw.apply(i), scores[i], 1e-5);
            }
        }
    }

    @Test
    void crossValidationChoosesTheParamsThatLearn() throws IOException {
        SeriatimClassifier classifier = classifier().setMaxIter(6).setNumRanks(1);
        ParamMap[] grid = new ParamGridBuilder().addGrid(classifier.learningRate(), new double[]{1e-6, 0.03}).build();
        CrossValidator validator = new CrossValidator().setEstimator(classifier).setEstimatorParamMaps(grid)
                .setEvaluator(new MulticlassClassificationEvaluator()).setNumFolds(2).setSeed(1);
        CrossValidatorModel chosen = validator.fit(assembler().transform(rows()));
        assertTrue(chosen.avgMetrics()[1] > chosen.avgMetrics()[0] + 0.2, () -> chosen.avgMetrics()[0] + ", "
                + chosen.avgMetrics()[1]);
        SeriatimClassificationModel best = (SeriatimClassificationModel) chosen.bestModel();
        assertEquals(0.03, ((SeriatimClassifier) best.parent()).getLearningRate());
        chosen.write().overwrite().save(folder.resolve("chosen").toString());
        CrossValidatorModel loaded = CrossValidatorModel.load(folder.resolve("chosen").toString());
        assertArrayEquals(chosen.avgMetrics(), loaded.avgMetrics());
        Dataset<Row> features = assembler().transform(rows());
        assertEquals(ordered(chosen.transform(features)).collectAsList(),
                ordered(loaded.transform(features)).collectAsList());
    }

    @Test
    void aRegressorTakesArraysAndNumbers() throws IOException {
        SeriatimRegressor regressor = new SeriatimRegressor().setFeaturesCol("pair").setLabelCol("value")
                .setHiddenLayers().setWeightDecay(0).setMaxIter(20).setBatchSize(20).setLearningRate(0.05)
                .setNumRanks(1);
        regressor.write().overwrite().save(folder.resolve("regressor").toString());
        SeriatimRegressor same = SeriatimRegressor.load(folder.resolve("regressor").toString());
        assertEquals(0, same.getHiddenLayers().length);
        assertEquals(0.05, same.getLearningRate());
        Dataset<Row> pairs = rows().selectExpr("a", "b", "array(a, b) as pair", "value");
        SeriatimRegressionModel model = same.setCheckpointDir(folder.resolve("checkpoints").toString()).fit(pairs);
        try (Stream<Path> left = Files.list(folder.resolve("checkpoints"))) {
            assertEquals(0, left.count());
        }
        double error = new RegressionEvaluator().setLabelCol("value").evaluate(model.transform(pairs));
        // The values are a linear function.
        assertTrue(error < 0.05, "error: " + error);
        model.save(folder.resolve("model").toString());
        SeriatimRegressionModel loaded = SeriatimRegressionModel.load(folder.resolve("model").toString());
        assertEquals(ordered(model.transform(pairs)).collectAsList(),
                ordered(loaded.copy(ParamMap.empty()).transform(pairs)).collectAsList());
        assertEquals(7, loaded.copy(new ParamMap().put(loaded.scoringBatchSize(), 7)).getScoringBatchSize());
        assertEquals(1, new SeriatimRegressor().setFeaturesCol("a").setLabelCol("value").setMaxIter(1).setNumRanks(1)
                .fit(rows()).numFeatures());
    }

    @Test
    void ranksOfAnEstimatorExchangeAsItsParamsSay() throws IOException {
        SeriatimClassifier classifier = classifier().setNumRanks(2).setMaxIter(2).setShardOptimizer(true)
                .setWire("bf16").setSyncBatchNorm(true);
        classifier.write().overwrite().save(folder.resolve("classifier").toString());
        SeriatimClassifier same = SeriatimClassifier.load(folder.resolve("classifier").toString());
        assertEquals(Exchange.PLAIN.bfloat16(true).sharded(true).syncBatchNorm(true), same.exchange());
        assertEquals(Exchange.PLAIN, classifier().exchange());
        assertFails("wire", () -> classifier().setWire("f16"));
        Dataset<Row> features = assembler().transform(rows());
        SeriatimClassificationModel sharded = same.setWire("f32").fit(features);
        assertEquals(ordered(classifier().setNumRanks(2).setMaxIter(2).fit(features).transform(features))
                .collectAsList(), ordered(sharded.transform(features)).collectAsList());
    }

    @Test
    void aNetworkFromAFileIsTrainedFurther() throws IOException {
        Path file = save("own.onnx", graph -> Outputs.of("p", graph.linear(graph.linear(graph.data("x",
                DType.FLOAT32, -1, 2), 24).tanh(), 3).softmax(1)));
        Dataset<Row> features = assembler().transform(rows());
        SeriatimClassificationModel model = classifier().setNumRanks(1).setModelFile(file.toString()).fit(features);
        // The softmax of the file is not applied twice.
        Row row = model.transform(features).first();
        Vector raw = row.getAs("rawPrediction");
        double sum = 0;
        for (double each : raw.toArray()) {
            sum += each;
        }
        assertTrue(Math.abs(sum - 1) > 1e-3, raw::toString);
        double accuracy = accuracy(model.transform(features), "label");
        assertTrue(accuracy > 0.9, "accuracy: " + accuracy);
        Path two = save("two.pdmodel", graph -> Outputs.of("y", graph.data("x", DType.FLOAT32, -1, 2)
                .plus(graph.data("z", DType.FLOAT32, -1, 2))));
        assertFails("an estimator feeds one", () -> classifier().setModelFile(two.toString()).fit(features));
    }

    @Test
    void columnsWithoutNamesAreNotAppended() {
        SeriatimClassificationModel model = new SeriatimClassificationModel("m").setRawPredictionCol("")
                .setProbabilityCol("");
        assertEquals(List.of("features", "prediction"), List.of(model.transformSchema(
                new StructType().add("features", DataTypes.createArrayType(DataTypes.FloatType))).fieldNames()));
        SeriatimClassifier copy = classifier().copy(new ParamMap().put(classifier().seed(), 4L));
        assertEquals(3, copy.getSeed());
        SeriatimClassifier own = classifier();
        assertEquals(4, own.copy(new ParamMap().put(own.seed(), 4L)).getSeed());
        assertFalse(own.explainParams().isEmpty());
        for (String param : List.of("featuresCol", "labelCol", "predictionCol", "probabilityCol", "maxIter",
                "batchSize", "learningRate", "seed", "numRanks", "hiddenLayers", "modelFile")) {
            assertTrue(own.hasParam(param), param);
        }
    }

    private static void assertFails(String part, Executable call) {
        Throwable error = assertThrows(Exception.class, call);
        StringBuilder all = new StringBuilder();
        for (Throwable each = error; each != null; each = each.getCause()) {
            all.append(each.getMessage()).append('\n');
        }
        assertTrue(all.toString().contains(part), all::toString);
    }

    @Test
    void errorsNameTheColumnAndTheRule() {
        Dataset<Row> features = assembler().transform(rows());
        assertFails("no column 'x', which featuresCol names", () -> classifier().setFeaturesCol("x").fit(features));
        assertFails("no column 'y', which labelCol names", () -> classifier().setLabelCol("y").fit(features));
        assertFails("labels are numbers", () -> classifier().setLabelCol("name").fit(features));
        assertFails("features are ML vectors", () -> classifier().setFeaturesCol("name").fit(features));
        assertFails("must be class numbers, from 0", () -> classifier().setLabelCol("a").fit(features));
        assertFails("has 1.5", () -> classifier().fit(features.selectExpr("features", "label * 1.5 as label")));
        assertFails("no rows", () -> classifier().fit(features.limit(0)));
        assertFails("21 cannot be split evenly among 2 ranks", () -> classifier().setBatchSize(21).fit(features));
        assertFails("a column 'prediction' already", () -> new SeriatimRegressor()
                .transformSchema(features.schema().add("prediction", DataTypes.DoubleType)));
        assertFails("at least 1", () -> classifier().setHiddenLayers(8, 0));
        assertThrows(IllegalArgumentException.class, () -> classifier().setMaxIter(0));
        assertThrows(IllegalArgumentException.class, () -> classifier().setDropout(1));
        assertFails("has no network", () -> new SeriatimRegressionModel("m").transform(features).count());
    }
}

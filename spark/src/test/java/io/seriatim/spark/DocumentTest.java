package io.seriatim.spark;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.train.Model;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.ml.evaluation.MulticlassClassificationEvaluator;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code of the README and of the guide: trains on Spark, saves the model and scores rows with it. */
class DocumentTest {
    private static final int ROWS = 1_500;
    private static final int PIXELS = 784;
    private static final int DIGITS = 10;

    @TempDir
    private Path folder;

    /** Images with noise, in which every tenth pixel, beginning at the digit, is light. */
    private static Dataset<Row> images() {
        SplittableRandom random = new SplittableRandom(3);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            float[] pixels = new float[PIXELS];
            for (int j = 0; j < PIXELS; j++) {
                pixels[j] = (j % DIGITS == i % DIGITS ? 1 : 0) + (float) random.nextDouble();
            }
            rows.add(RowFactory.create(pixels, (long) i % DIGITS));
        }
        return LocalSpark.session().createDataFrame(rows, new StructType()
                .add("pixels", DataTypes.createArrayType(DataTypes.FloatType)).add("digit", DataTypes.LongType));
    }

    @Test
    void rowsAreScoredByTheModelThatWasTrainedOnThem() throws IOException {
        Dataset<Row> rows = images();
        String checkpoints = folder.resolve("checkpoints").toString();
        String file = folder.resolve("digits.onnx").toString();

        Network net = Network.define(g -> {
            Value pixels = g.data("pixels", FLOAT32, -1, 784);
            Value digit = g.data("digit", INT64, -1, 1);
            Value logits = g.linear(g.linear(pixels, 64).relu(), 10);
            Value loss = g.softmaxCrossEntropy(logits, digit).mean();
            g.minimize(loss, Adam.of(1e-3));
            return Outputs.of("loss", loss, "probabilities", logits.softmax(1));
        });
        Model model = Model.of("digits", net).loss("loss").predicts("probabilities");
        try (SparkTraining.Result result = SparkTraining.of(model, rows).columns("pixels", "digit").ranks(2)
                .batch(128).epochs(5).seed(1).checkpoints(checkpoints).fit()) {
            InferenceModels.save(Path.of(file), result.model());
        }
        Dataset<Row> scored = new SeriatimTransformer()
                .setModel(file)
                .setInputCols("pixels")
                .setOutputCols("probabilities")
                .transform(rows);

        int right = 0;
        for (Row row : scored.select("digit", "probabilities").collectAsList()) {
            List<Float> probabilities = row.getList(1);
            int best = probabilities.indexOf(probabilities.stream().max(Float::compare).orElseThrow());
            right += best == row.getLong(0) ? 1 : 0;
        }
        assertTrue(right > 0.9 * ROWS, "right: " + right);

        SeriatimClassificationModel classifier = new SeriatimClassifier()
                .setFeaturesCol("pixels").setLabelCol("digit").setHiddenLayers(64)
                .setMaxIter(5).setBatchSize(128).setLearningRate(1e-3).setNumRanks(2)
                .fit(rows);
        Dataset<Row> classified = classifier.transform(rows); // with rawPrediction, probability and prediction

        double accuracy = new MulticlassClassificationEvaluator().setLabelCol("digit").setMetricName("accuracy")
                .evaluate(classified);
        assertTrue(accuracy > 0.9, "accuracy: " + accuracy);
    }
}

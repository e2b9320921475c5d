package io.seriatim.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.tensor.DType;
import io.seriatim.train.Model;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/**
 * Trains in a cluster on this machine, with a JVM for each executor, of which one is halted at a random step;
 * {@code -Dseriatim.halts=N} does so N times, about 20 seconds each. The environment variable SPARK_HOME names a folder
 * for the executors' files.
 */
@EnabledIf("isAskedFor")
class KilledExecutorTest {
    private static final int ROWS = 410;
    private static final int EPOCHS = 4;
    private static final int BATCH = 40;
    private static final int RANKS = 2;

    @TempDir
    private Path folder;

    /** In {@code -Pfull}, and short in {@code -Pcluster}. */
    static boolean isAskedFor() {
        return Boolean.getBoolean("seriatim.full") || Boolean.getBoolean("seriatim.cluster");
    }

    private static SparkSession cluster() throws IOException {
        // Workers refuse to start executors without this folder. The jars are those of this process.
        Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
        // There is one Spark in a process at a time.
        LocalSpark.session().stop();
        String options = String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(each -> each.startsWith("--")).toList());
        return SparkSession.builder().master("local-cluster[2,1,1024]").appName("seriatim-cluster")
                .config("spark.ui.enabled", false)
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.executor.memory", "768m")
                // The secret of the ranks follows from this one.
                .config("spark.authenticate", true)
                .config("spark.authenticate.secret", UUID.randomUUID().toString())
                .config("spark.executor.extraClassPath", System.getProperty("java.class.path"))
                .config("spark.executor.extraJavaOptions", options)
                .getOrCreate();
    }

    private static Dataset<Row> rows(SparkSession spark) {
        SplittableRandom random = new SplittableRandom(1);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            rows.add(RowFactory.create(new float[]{(float) random.nextDouble() + i % 3, (float) random.nextDouble()},
                    (long) i % 3));
        }
        return spark.createDataFrame(rows, new StructType()
                .add("x", DataTypes.createArrayType(DataTypes.FloatType)).add("y", DataTypes.LongType)).repartition(3);
    }

    private static Model model() {
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 2);
            Value y = graph.data("y", DType.INT64, -1, 1);
            Value hidden = graph.dropout(graph.linear(x, 32).tanh(), 0.3);
            Value loss = graph.softmaxCrossEntropy(graph.linear(hidden, 3), y).mean();
            graph.minimize(loss, AdamW.of(0.01));
            return Outputs.of("loss", loss, "hidden", hidden);
        });
        return Model.of("halted", network).loss("loss").predicts("hidden");
    }

    private static Map<String, double[]> fit(SparkTraining training, boolean isHalted) throws IOException {
        try (SparkTraining.Result result = training.fit()) {
            assertEquals(isHalted, result.attempts() > 1, result::toString);
            assertEquals((long) EPOCHS * (ROWS / BATCH), result.step());
            Map<String, double[]> values = new TreeMap<>();
            result.variables().forEach((name, tensor) -> values.put(name, tensor.toDoubleArray()));
            return values;
        }
    }

    @Test
    void aHaltedExecutorDoesNotChangeTheResult() throws IOException {
        long seed = Long.getLong("seriatim.seed", new Random().nextLong());
        System.out.println("aHaltedExecutorDoesNotChangeTheResult: seed " + seed);
        Random random = new Random(seed);
        try (SparkSession spark = cluster()) {
            SparkTraining training = SparkTraining.of(model(), rows(spark)).ranks(RANKS).batch(BATCH).epochs(EPOCHS)
                    .seed(7);
            Map<String, double[]> expected = fit(training, false);
            for (int trial = 0; trial < Integer.getInteger("seriatim.halts", 2); trial++) {
                int halted = random.nextInt(RANKS);
                long at = 1 + random.nextLong((long) EPOCHS * (ROWS / BATCH));
                System.out.println("trial " + trial + ": rank " + halted + " after step " + at);
                Map<String, double[]> actual = fit(SparkTraining.of(model(), rows(spark)).ranks(RANKS).batch(BATCH)
                        .epochs(EPOCHS).seed(7).checkpointEvery(3)
                        .exchange(Exchange.PLAIN.sharded(trial % 2 == 0))
                        .checkpoints(folder.resolve("run" + trial).toString()).probe((rank, attempt, step) -> {
                            if (attempt == 0 && rank == halted && step == at) {
                                Runtime.getRuntime().halt(9);
                            }
                        }), true);
                assertEquals(expected.keySet(), actual.keySet());
                expected.forEach((name, values) -> assertArrayEquals(values, actual.get(name), name));
            }
        }
    }
}

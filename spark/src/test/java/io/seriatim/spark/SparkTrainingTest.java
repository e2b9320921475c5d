package io.seriatim.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cluster.Cluster;
import io.seriatim.cluster.ClusterOptions;
import io.seriatim.cluster.Rendezvous;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.Trainer;
import io.seriatim.train.data.Field;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trains with two ranks, which are tasks of a local Spark. */
class SparkTrainingTest {
    private static final int CLASSES = 3;
    private static final int ROWS = 203;
    private static final int PARTITIONS = 3;
    private static final int RANKS = 2;
    private static final int BATCH = 20;
    private static final int EPOCHS = 3;
    private static final long SEED = 7;
    private static final StructType SCHEMA = new StructType()
            .add("point", DataTypes.createArrayType(DataTypes.FloatType)).add("arm", DataTypes.LongType);
    private static SparkSession spark;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() {
        spark = LocalSpark.session();
    }

    private static Model model(double dropout) {
        return model(dropout, 0.02);
    }

    private static Model model(double dropout, double rate) {
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 2);
            Value y = graph.data("y", DType.INT64, -1, 1);
            Value hidden = graph.dropout(graph.linear(x, 32).tanh(), dropout);
            Value logits = graph.linear(hidden, CLASSES);
            Value loss = graph.softmaxCrossEntropy(logits, y).mean();
            graph.minimize(loss, AdamW.of(Schedule.cosine(rate, 40, rate / 10)));
            return Outputs.of("loss", loss, "logits", logits);
        });
        return Model.of("spirals", network).loss("loss").predicts("logits");
    }

    private static List<Row> rows(int count, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double radius = 0.1 + 0.9 * random.nextDouble();
            double angle = 4 * radius + i % CLASSES * 2 * Math.PI / CLASSES;
            rows.add(RowFactory.create(new float[]{(float) (radius * Math.cos(angle)),
                    (float) (radius * Math.sin(angle))}, (long) i % CLASSES));
        }
        return rows;
    }

    private static Dataset<Row> frame(List<Row> rows) {
        return spark.createDataFrame(new JavaSparkContext(spark.sparkContext()).parallelize(rows, PARTITIONS), SCHEMA);
    }

    private static SparkTraining training(double dropout) {
        return SparkTraining.of(model(dropout), frame(rows(ROWS, 1))).columns("point", "arm").ranks(RANKS).batch(BATCH)
                .epochs(EPOCHS).seed(SEED);
    }

    private static Map<String, double[]> values(Map<String, Tensor> tensors) {
        Map<String, double[]> values = new TreeMap<>();
        tensors.forEach((name, tensor) -> values.put(name, tensor.toDoubleArray()));
        return values;
    }

    private static Map<String, double[]> fit(SparkTraining training, int attempts) throws IOException {
        try (SparkTraining.Result result = training.fit()) {
            assertEquals(attempts, result.attempts());
            return values(result.variables());
        }
    }

    private static void assertSame(Map<String, double[]> expected, Map<String, double[]> actual) {
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach((name, values) -> assertArrayEquals(values, actual.get(name), name));
    }

    private static byte[] bytes(Row row) {
        float[] point = (float[]) row.get(0);
        return ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putFloat(point[0]).putFloat(point[1])
                .putLong(row.getLong(1)).array();
    }

    /** The rows of each rank as the documentation says: sorted partitions are dealt in turn, and sorted again. */
    private static List<List<byte[]>> dealt(List<Row> rows) {
        List<List<byte[]>> ranks = Stream.generate(() -> (List<byte[]>) new ArrayList<byte[]>()).limit(RANKS).toList();
        for (int part = 0; part < PARTITIONS; part++) {
            List<byte[]> own = new ArrayList<>();
            rows.subList(rows.size() * part / PARTITIONS, rows.size() * (part + 1) / PARTITIONS)
                    .forEach(row -> own.add(bytes(row)));
            own.sort(Arrays::compareUnsigned);
            for (int i = 0; i < own.size(); i++) {
                ranks.get((part + i) % RANKS).add(own.get(i));
            }
        }
        ranks.forEach(rank -> rank.sort(Arrays::compareUnsigned));
        return ranks;
    }

    /** The tensors of a rank's rows, without the code that is tested. */
    private record Own(List<byte[]> rows) implements io.seriatim.train.data.Dataset {
        @Override
        public List<Field> fields() {
            return List.of(new Field("point", DType.FLOAT32, Shape.of(2)), new Field("arm", DType.INT64, Shape.of(1)));
        }

        @Override
        public int size() {
            return rows.size();
        }

        @Override
        public List<Tensor> batch(int[] examples) {
            float[] points = new float[2 * examples.length];
            long[] arms = new long[examples.length];
            for (int i = 0; i < examples.length; i++) {
                ByteBuffer row = ByteBuffer.wrap(rows.get(examples[i])).order(ByteOrder.LITTLE_ENDIAN);
                points[2 * i] = row.getFloat();
                points[2 * i + 1] = row.getFloat();
                arms[i] = row.getLong();
            }
            return List.of(Tensor.of(points, examples.length, 2), Tensor.of(arms, examples.length, 1));
        }
    }

    /** Trains with ranks that are threads of this process, without Spark. */
    private List<Map<String, double[]>> withoutSpark(double dropout, List<Row> held) throws Exception {
        List<List<byte[]>> dealt = dealt(rows(ROWS, 1));
        List<byte[]> validation = new ArrayList<>(held.stream().map(SparkTrainingTest::bytes).toList());
        validation.sort(Arrays::compareUnsigned);
        Path meeting = Files.createDirectory(folder.resolve("meeting"));
        List<Callable<Map<String, double[]>>> ranks = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            ClusterOptions options = ClusterOptions.of(rank, RANKS, new byte[ClusterOptions.FEWEST_SECRET_BYTES]);
            Own own = new Own(dealt.get(rank));
            ranks.add(() -> {
                try (Cluster cluster = Cluster.join(options, Rendezvous.folder(meeting))) {
                    Trainer.Builder builder = Trainer.of(model(dropout), new Split(own, new Own(validation)))
                            .batch(BATCH).epochs(EPOCHS).seed(SEED).communicator(cluster).ownExamples();
                    if (held.isEmpty()) {
                        builder.withoutEvaluation();
                    } else {
                        builder.folder(folder.resolve("run"));
                    }
                    Trainer trainer = builder.build();
                    trainer.run();
                    Map<String, Tensor> found = new TreeMap<>();
                    model(dropout).main().persistables().forEach(variable -> {
                        Tensor value = trainer.scope().find(variable.name());
                        if (value != null) {
                            found.put(variable.name(), value);
                        }
                    });
                    return values(found);
                }
            });
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(RANKS)) {
            List<Map<String, double[]>> results = new ArrayList<>();
            for (Future<Map<String, double[]>> each : threads.invokeAll(ranks)) {
                results.add(each.get());
            }
            return results;
        }
    }

    @Test
    void tasksTrainLikeRanksWithoutSpark() throws Exception {
        List<Map<String, double[]>> expected = withoutSpark(0.3, List.of());
        assertSame(expected.get(0), expected.get(1));
        assertTrue(expected.getFirst().size() > 4, expected.getFirst().keySet()::toString);
        assertSame(expected.getFirst(), fit(training(0.3), 1));
    }

    /** An example as a bean. */
    public static final class Example implements Serializable {
        private static final long serialVersionUID = 1;
        private final float[] point;
        private final long arm;

        Example(Row row) {
            point = ((float[]) row.get(0)).clone();
            arm = row.getLong(1);
        }

        /** Returns the features. */
        public float[] getPoint() {
            return point.clone();
        }

        /** Returns the class. */
        public long getArm() {
            return arm;
        }
    }

    @Test
    void rowsAndBeansTrainLikeADataFrame() throws IOException {
        JavaRDD<Row> rows = new JavaSparkContext(spark.sparkContext()).parallelize(rows(ROWS, 1), PARTITIONS);
        Map<String, double[]> expected = fit(training(0).epochs(1), 1);
        for (SparkTraining training : List.of(SparkTraining.of(model(0), rows, SCHEMA),
                SparkTraining.of(model(0), rows.map(Example::new), Example.class))) {
            assertSame(expected, fit(training.columns("point", "arm").ranks(RANKS).batch(BATCH).seed(SEED), 1));
        }
    }

    @Test
    void theResultIsThatOfTheBestEvaluation() throws Exception {
        List<Row> held = rows(60, 2);
        Map<String, double[]> expected = withoutSpark(0, held).getFirst();
        String saved = folder.resolve("checkpoints").toString();
        try (SparkTraining.Result result = training(0).validation(frame(held)).checkpoints(saved).fit()) {
            assertSame(expected, values(result.variables()));
            assertTrue(result.loss() >= result.bestLoss() && result.bestLoss() > 0, result::toString);
            // The model has the trained parameters.
            Path file = folder.resolve("model.onnx");
            InferenceModels.save(file, result.model());
            List<Row> scored = new SeriatimTransformer().setModel(file.toString()).setInputCols("point")
                    .setOutputCols("logits").transform(frame(held)).collectAsList();
            int right = 0;
            for (Row row : scored) {
                List<Float> logits = row.getList(2);
                right += logits.indexOf(logits.stream().max(Float::compare).orElseThrow()) == row.getLong(1) ? 1 : 0;
            }
            assertTrue(right > 60 / CLASSES + 5, "right: " + right);
        }
        assertSays("resume()",
                assertThrows(IllegalStateException.class, () -> training(0).checkpoints(saved).fit()));
    }

    @Test
    void failuresDoNotChangeTheResult() throws IOException {
        long seed = new Random().nextLong();
        System.out.println("failuresDoNotChangeTheResult: seed " + seed);
        Random random = new Random(seed);
        Map<String, double[]> expected = fit(training(0.3), 1);
        long steps = EPOCHS * (ROWS / RANKS / (BATCH / RANKS));
        int trials = Boolean.getBoolean("seriatim.full") ? 20 : 1;
        for (int trial = 0; trial < trials; trial++) {
            int failing = random.nextInt(RANKS);
            // Perhaps before the first checkpoint, in the last step, or before the step at which the attempt begins.
            long first = 1 + random.nextLong(steps);
            long second = 1 + random.nextLong(steps);
            String text = "rank " + failing + " after step " + first + " and then " + second;
            SparkTraining training = training(0.3).checkpoints(folder.resolve("run" + trial).toString())
                    .checkpointEvery(4).probe((rank, attempt, step) -> {
                        if ((attempt == 0 && rank == failing && step == first)
                                || (attempt == 1 && rank != failing && step == second)) {
                            throw new IllegalStateException("planted");
                        }
                    });
            try (SparkTraining.Result result = training.fit()) {
                assertTrue(result.attempts() > 1, text);
                assertEquals(steps, result.step(), text);
                assertSame(expected, values(result.variables()));
            }
        }
        // From the first step again.
        assertSame(expected, fit(training(0.3).probe((rank, attempt, step) -> {
            if (attempt == 0 && rank == 1 && step == 5) {
                throw new IllegalStateException("planted");
            }
        }), 2));
        // By hand, from the checkpoint that an ended training has left.
        String left = folder.resolve("left").toString();
        fit(training(0.3).checkpoints(left).steps(11), 1);
        assertSame(expected, fit(training(0.3).checkpoints(left).resume(), 1));
    }

    @Test
    void theLastFailureIsReportedAndNumbersThatAreNotFiniteAreNotComputedAgain() {
        IllegalStateException failure = assertThrows(IllegalStateException.class,
                () -> training(0).attempts(2).probe((rank, _, _) -> {
                    if (rank == 1) {
                        throw new IllegalStateException("planted");
                    }
                }).fit());
        assertSays("failed 2 times", failure);
        assertSays("planted", failure);
        assertEquals(1, failure.getSuppressed().length);
        failure = assertThrows(IllegalStateException.class,
                () -> SparkTraining.of(model(0, 1e38), frame(rows(ROWS, 1))).columns("point", "arm").ranks(RANKS)
                        .batch(BATCH).epochs(EPOCHS).fit());
        assertSays("failed 1 times", failure);
    }

    @Test
    void mistakesAreFoundOnTheDriver() {
        assertFails("21 cannot be split evenly among 2 ranks", training(0).batch(21));
        assertFails("There is no column 'x' for 'x'", training(0).columns());
        assertFails("takes 200 rows of each of 2 ranks, but they have [102, 101]", training(0).batch(400));
        assertFails("the model is fed [x, y]", training(0).columns("point"));
        assertThrows(IllegalArgumentException.class, () -> training(0).ranks(0));
        Exception failure = assertThrows(Exception.class, () -> training(0).columns("arm", "arm").fit());
        assertSays("column 'arm' has 1 numbers", failure);
    }

    private static void assertFails(String part, SparkTraining training) {
        IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, training::fit);
        assertSays(part, failure);
    }

    private static void assertSays(String part, Throwable failure) {
        assertTrue(String.valueOf(failure.getMessage()).contains(part), failure::toString);
    }

    @Test
    void aCheckpointIsThereAsAWholeOrNotAtAll() throws IOException {
        Path disk = Files.createDirectories(folder.resolve("disk/checkpoints"));
        CheckpointStore store = CheckpointStore.of(folder.resolve("store").toString(),
                spark.sparkContext().hadoopConfiguration());
        assertEquals(List.of(), store.steps());
        for (int step : new int[]{9, 10, 11}) {
            Path checkpoint = Files.createDirectory(disk.resolve("" + step));
            Files.writeString(checkpoint.resolve("state"), "step " + step);
            store.upload(checkpoint);
        }
        // What a rank that died while it wrote leaves.
        Files.createDirectories(folder.resolve("store/.12.x.part"));
        assertEquals(List.of(9L, 10L, 11L), store.steps());
        Path copy = folder.resolve("copy");
        store.download(copy);
        assertEquals("step 10", Files.readString(copy.resolve("10/state")));
        try (Stream<Path> copied = Files.list(copy)) {
            assertEquals(3, copied.count());
        }
        // The disk keeps some checkpoints only.
        Files.delete(disk.resolve("9/state"));
        Files.delete(disk.resolve("9"));
        store.upload(disk.resolve("11"));
        assertEquals(List.of(10L, 11L), store.steps());
        try (Stream<Path> left = Files.list(folder.resolve("store"))) {
            assertEquals(2, left.count());
        }
    }

    @Test
    void rowsThatChangeAreRefused() {
        List<byte[]> rows = List.of(new byte[]{1}, new byte[]{2});
        String digest = EncodedRows.digest(rows);
        RankTask.requireSame(1, List.copyOf(rows), digest);
        for (List<byte[]> others : List.of(rows.reversed(), rows.subList(0, 1),
                List.of(new byte[]{1}, new byte[]{3}))) {
            assertSays("rows of rank 1 are others than before",
                    assertThrows(IllegalStateException.class, () -> RankTask.requireSame(1, others, digest)));
        }
    }

    @Test
    void aRankListensAtTheAddressOfItsExecutor() {
        assertEquals("10.0.0.7", RankTask.host("10.0.0.7:4711"));
        assertEquals("worker-3", RankTask.host("worker-3:1"));
        assertEquals("fd00::7", RankTask.host("[fd00::7]:4711"));
    }
}

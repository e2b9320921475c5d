package io.seriatim.spark;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Predictor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.spark.ml.functions;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Compares the rate of {@link SeriatimTransformer} with that of the plan alone: as many threads run the plan as Spark
 * has tasks, on one batch of the same size. Each round measures both; the ratio is that of the best ones. The heap that
 * is in use after a collection is printed for each round.
 */
final class ScoringBenchmark {
    private static final int BATCH = 256;
    private static final int TASKS = 2;
    private static final int ROUNDS = 4;

    private ScoringBenchmark() {
    }

    /** Arguments: the number of rows, the width of the two hidden layers, and float, double, vector or number. */
    public static void main(String[] args) throws Exception {
        long rows = Long.parseLong(args[0]);
        int width = Integer.parseInt(args[1]);
        Path folder = Files.createTempDirectory("seriatim-scoring");
        Path model = folder.resolve("model.onnx");
        int inputs = args[2].equals("number") ? 1 : 64;
        save(model, inputs, width);
        try (SparkSession spark = LocalSpark.session(); Predictor plan = Predictor.builder(model).threads(1).build()) {
            String kind = args[2];
            String type = kind.equals("double") ? "double" : "float";
            Dataset<Row> made = spark.range(0, rows, 1, 2 * TASKS).selectExpr(kind.equals("number")
                    ? "float(id % 97) / 97f as x"
                    : "transform(sequence(0, 63), i -> " + type + "((id + i) % 97) / " + type + "(97)) as x")
                    .selectExpr(kind.equals("number") ? "float(x) as x" : "cast(x as array<" + type + ">) as x");
            Dataset<Row> cached = (kind.equals("vector")
                    ? made.select(functions.array_to_vector(ExampleColumns.named("x")).as("x"))
                    : made).cache();
            cached.count();
            Dataset<Row> scored = new SeriatimTransformer().setModel(model.toString()).setInputCols("x")
                    .setOutputCols("y").setOutputType(kind.equals("vector") ? "vector" : "array").setBatchSize(BATCH)
                    .transform(cached);
            double[] alone = new double[ROUNDS];
            double[] whole = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                alone[round] = rows / plan(plan, rows, inputs);
                long before = System.nanoTime();
                scored.write().format("noop").mode("overwrite").save();
                whole[round] = rows / seconds(before);
                System.gc();
                long heap = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
                System.out.printf("round %d: plan %.0f rows/s, transformer %.0f rows/s, heap %d MiB%n", round,
                        alone[round], whole[round], heap >> 20);
            }
            System.out.printf("%d rows, width %d, %s: ratio %.2f%n", rows, width, kind,
                    Arrays.stream(whole).max().orElseThrow() / Arrays.stream(alone).max().orElseThrow());
        }
    }

    private static double seconds(long before) {
        return (System.nanoTime() - before) / 1e9;
    }

    private static void save(Path model, int inputs, int width) throws IOException {
        Network network = Network.define(graph -> Outputs.of("y", graph.linear(graph.linear(graph.linear(
                graph.data("x", DType.FLOAT32, -1, inputs), width).relu(), width).relu(), 10).softmax(1)));
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup().copy().randomSeed(5));
            InferenceModels.save(model, InferenceModels.of(network, executor.scope()::find));
        }
    }

    /** Runs the plan on all rows, and returns the seconds. */
    private static double plan(Predictor plan, long rows, int inputs) throws InterruptedException, ExecutionException {
        long before = System.nanoTime();
        try (ExecutorService threads = Executors.newFixedThreadPool(TASKS)) {
            for (Future<?> each : IntStream.range(0, TASKS).<Future<?>>mapToObj(_ -> threads.submit(() -> {
                try (Tensor x = Tensor.of(new float[BATCH * inputs], BATCH, inputs)) {
                    for (long from = 0; from < rows / TASKS; from += BATCH) {
                        plan.run(Map.of("x", x)).all().values().forEach(Tensor::close);
                    }
                }
            })).toList()) {
                each.get();
            }
        }
        return seconds(before);
    }
}

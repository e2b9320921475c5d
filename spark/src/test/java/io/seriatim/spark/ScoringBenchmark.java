package io.seriatim.spark;

import com.sun.management.OperatingSystemMXBean;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Predictor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.apache.spark.ml.functions;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.types.UserDefinedType;
import scala.Function1;
import scala.collection.Iterator;

/**
 * Compares {@link SeriatimTransformer} with its plan alone: as many threads run the plan as Spark has tasks, on one
 * batch of the same size. What Spark costs without a model is measured, too: the same nodes with a function that reads
 * the cells and gives the same result to all rows. Each round measures all three; medians of the processor time of the
 * process are compared, which say more than times where others use the processors. The heap that is in use after a
 * collection is printed for each round.
 */
final class ScoringBenchmark {
    private static final int BATCH = 256;
    private static final int TASKS = 2;
    private static final int WARM_UP = 2;
    private static final int ROUNDS = 5;

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
            Dataset<Row> constant = ScoredFrame.of(cached, new Constant(new CellReader(0,
                    cached.schema().apply(0).dataType()), kind.equals("vector")), scored.schema());
            Map<String, List<Cost>> costs = new TreeMap<>();
            for (int round = 0; round < ROUNDS + WARM_UP; round++) {
                Map<String, Cost> now = new TreeMap<>();
                now.put("plan", cost(rows, () -> plan(plan, rows, inputs)));
                now.put("Spark", cost(rows, () -> write(constant)));
                now.put("transformer", cost(rows, () -> write(scored)));
                System.gc();
                long heap = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
                System.out.printf("round %d: %s, heap %d MiB%n", round, now, heap >> 20);
                if (round >= WARM_UP) {
                    now.forEach((name, cost) -> costs.computeIfAbsent(name, _ -> new ArrayList<>()).add(cost));
                }
            }
            System.out.printf("%d rows, width %d, %s: %s%n", rows, width, kind, ratios(costs));
        }
    }

    private static String ratios(Map<String, List<Cost>> costs) {
        double plan = median(costs, "plan", Cost::processor);
        double spark = median(costs, "Spark", Cost::processor);
        double whole = median(costs, "transformer", Cost::processor);
        return ("processor time a row, ns: plan %.0f, Spark %.0f, transformer %.0f; ratio %.2f, at most %.2f; "
                + "time a row: ratio %.2f").formatted(plan, spark, whole, plan / whole, plan / (plan + spark),
                        median(costs, "plan", Cost::wall) / median(costs, "transformer", Cost::wall));
    }

    private static double median(Map<String, List<Cost>> costs, String name, ToDoubleFunction<Cost> value) {
        double[] sorted = costs.getOrDefault(name, List.of()).stream().mapToDouble(value).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** Nanoseconds a row. */
    private record Cost(double processor, double wall) {
        @Override
        public String toString() {
            return "%.0f ns processor, %.0f wall".formatted(processor, wall);
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private static Cost cost(long rows, Work work) throws Exception {
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long processor = system.getProcessCpuTime();
        long wall = System.nanoTime();
        work.run();
        return new Cost((double) (system.getProcessCpuTime() - processor) / rows,
                (double) (System.nanoTime() - wall) / rows);
    }

    private static void write(Dataset<Row> rows) {
        rows.write().format("noop").mode("overwrite").save();
    }

    /** What Spark costs: reads the cells as the transformer does, and gives the same result to all rows. */
    @SuppressWarnings("unchecked") // The type of the vectors of Spark ML.
    private record Constant(CellReader cells, boolean isVector)
            implements
                Function1<Iterator<Object>, Iterator<Object>>,
                Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public Iterator<Object> apply(Iterator<Object> rows) {
            Numbers numbers = new Numbers("x", DType.FLOAT32);
            float[] ten = new float[10];
            Object result = isVector
                    ? ((UserDefinedType<Vector>) SQLDataTypes.VectorType()).serialize(Vectors.dense(new double[10]))
                    : UnsafeArrayData.fromPrimitiveArray(ten);
            JoinedRow joined = new JoinedRow();
            InternalRow own = new GenericInternalRow(new Object[]{result});
            return rows.map(each -> {
                InternalRow row = (InternalRow) each;
                numbers.clear();
                cells.read(row, numbers);
                return joined.apply(row, own);
            });
        }
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
    private static void plan(Predictor plan, long rows, int inputs) throws InterruptedException, ExecutionException {
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
    }
}

package io.seriatim.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cluster.Cluster;
import io.seriatim.cluster.ClusterOptions;
import io.seriatim.cluster.Rendezvous;
import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.data.Batches;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests trainings of several ranks, which are threads here and are connected by sockets. */
@Timeout(RanksTrainingTest.LIMIT_SECONDS)
class RanksTrainingTest {
    static final long LIMIT_SECONDS = 60;
    private static final Split DATA = new Split(new Spirals(330, 1), new Spirals(90, 2));

    @TempDir
    private Path folder;
    private int jobs;

    private static Model model(double dropout) {
        return model(dropout, 32);
    }

    private static Model model(double dropout, int width) {
        List<Program> evaluation = new ArrayList<>();
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 2);
            Value y = graph.data("y", DType.INT64, -1, 1);
            Value hidden = graph.dropout(graph.linear(x, width).tanh(), dropout);
            Value logits = graph.linear(graph.linear(hidden, width).relu(), Spirals.CLASSES);
            Value loss = graph.softmaxCrossEntropy(logits, y).mean();
            Value accuracy = graph.accuracy(logits, y, 1);
            evaluation.add(graph.main().copyForTest());
            graph.minimize(loss, AdamW.of(Schedule.cosine(0.02, 60, 0.002)).clip(Clip.globalNorm(1)));
            return Outputs.of("loss", loss, "accuracy", accuracy, "logits", logits);
        });
        return new Model("spirals", network.main(), network.startup(), evaluation.getFirst(), List.of("x", "y"),
                network.outputs().get("loss").name(), Map.of("accuracy", network.outputs().get("accuracy").name()),
                network.schedules(),
                List.of("x"), List.of(network.outputs().get("logits").name()), "points", 1);
    }

    private static Trainer.Builder training(double dropout) {
        return Trainer.of(model(dropout), DATA).batch(30).epochs(3).seed(7).evaluateEvery(5);
    }

    /** What a rank does. */
    private interface Body<T> {
        T run(Communicator ranks) throws Exception;
    }

    private <T> List<T> ranks(int size, Body<T> body) throws Exception {
        Path meeting = Files.createDirectory(folder.resolve("job" + jobs++));
        List<Callable<T>> all = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            ClusterOptions options = ClusterOptions.of(rank, size, new byte[ClusterOptions.FEWEST_SECRET_BYTES])
                    .joinLimit(Duration.ofSeconds(LIMIT_SECONDS / 2));
            all.add(() -> {
                try (Cluster cluster = Cluster.join(options, Rendezvous.folder(meeting))) {
                    return body.run(cluster);
                }
            });
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(size)) {
            List<T> results = new ArrayList<>();
            for (Future<T> each : threads.invokeAll(all, LIMIT_SECONDS, TimeUnit.SECONDS)) {
                results.add(each.get());
            }
            return results;
        }
    }

    private record Trained(Trainer.Result result, Map<String, double[]> values) {
    }

    private static Trained run(Trainer.Builder builder) throws IOException {
        Trainer trainer = builder.build();
        Trainer.Result result = trainer.run();
        Map<String, double[]> values = new TreeMap<>();
        for (String name : trainer.scope().names()) {
            Tensor tensor = trainer.scope().find(name);
            if (tensor != null) {
                values.put(name, tensor.toDoubleArray());
            }
        }
        return new Trained(result, values);
    }

    private static void assertSame(Trained expected, Trained actual, double tolerance) {
        assertEquals(expected.values().keySet(), actual.values().keySet());
        expected.values().forEach((name, values) -> assertArrayEquals(values, actual.values().get(name), tolerance,
                name));
    }

    @ParameterizedTest
    @CsvSource({"2,1", "3,2"})
    void allRanksTrainLikeOneProcess(int size, int threads) throws Exception {
        Trained alone = run(training(0));
        List<Trained> all = ranks(size, ranks -> run(training(0).communicator(ranks).threads(threads)));
        for (Trained each : all) {
            assertEquals(End.DONE, each.result().end());
            assertEquals(all.getFirst().result(), each.result());
            assertSame(all.getFirst(), each, 0);
        }
        assertSame(alone, all.getFirst(), 2e-4);
        assertEquals(alone.result().bestStep(), all.getFirst().result().bestStep());
        assertEquals(alone.result().bestLoss(), all.getFirst().result().bestLoss(), 1e-4);
    }

    /** The gradients of this network are too small to be rounded: see {@code Cluster}. */
    @Test
    void gradientsTravelAsBfloat16IfTheyAreLarge() throws Exception {
        Exchange exchange = Exchange.PLAIN.bfloat16(true);
        for (int width : new int[]{32, 128}) {
            Model model = model(0, width);
            List<Trained> plain = ranks(2, ranks -> run(Trainer.of(model, DATA).batch(30).seed(7).communicator(ranks)));
            List<Trained> rounded = ranks(2, ranks -> run(Trainer.of(model, DATA).batch(30).seed(7).communicator(ranks)
                    .exchange(exchange)));
            assertSame(rounded.getFirst(), rounded.get(1), 0);
            assertSame(plain.getFirst(), rounded.getFirst(), 0.1);
            assertEquals(width == 32, plain.getFirst().values().entrySet().stream().allMatch(each -> Arrays
                    .equals(each.getValue(), rounded.getFirst().values().get(each.getKey()))));
        }
        Throwable failure = assertThrows(ExecutionException.class, () -> ranks(2,
                ranks -> run(training(0).communicator(ranks).exchange(exchange.bfloat16(ranks.rank() == 1)))))
                .getCause();
        assertInstanceOf(IllegalArgumentException.class, failure);
        assertTrue(String.valueOf(failure.getMessage()).contains("same model, data and options"), failure::toString);
    }

    /** The same parameters and checkpoints to the bit, with which any number of ranks goes on. */
    @Test
    void shardedStateOfTheOptimizerChangesNothing() throws Exception {
        Exchange exchange = Exchange.PLAIN.sharded(true);
        Path plainRun = folder.resolve("plain");
        Path shardedRun = folder.resolve("sharded");
        List<Trained> plain = ranks(3, ranks -> run(training(0).communicator(ranks).folder(plainRun).steps(12)));
        List<Trained> sharded = ranks(3, ranks -> run(training(0).communicator(ranks).folder(shardedRun).steps(12)
                .exchange(exchange)));
        int all = 0;
        for (int rank = 0; rank < 3; rank++) {
            assertEquals(plain.get(rank).result(), sharded.get(rank).result());
            for (Map.Entry<String, double[]> each : sharded.get(rank).values().entrySet()) {
                assertArrayEquals(plain.get(rank).values().get(each.getKey()), each.getValue(), each.getKey());
            }
            all += sharded.get(rank).values().size();
        }
        int each = plain.get(1).values().size();
        assertTrue(sharded.get(1).values().size() < each && all < 3 * each, all + " of " + 3 * each);
        for (int step : new int[]{10, 12}) {
            Path file = Path.of("checkpoints", Integer.toString(step), "variables.pdiparams");
            assertArrayEquals(Files.readAllBytes(plainRun.resolve(file)),
                    Files.readAllBytes(shardedRun.resolve(file)), file.toString());
        }
        List<Trained> resumed = ranks(2, ranks -> run(training(0).communicator(ranks).folder(shardedRun).steps(20)
                .resume().exchange(exchange)));
        List<Trained> plainResumed = ranks(2, ranks -> run(training(0).communicator(ranks).folder(plainRun).steps(20)
                .resume()));
        assertEquals(plainResumed.getFirst().result(), resumed.getFirst().result());
        Trained one = run(training(0).folder(shardedRun).resume());
        assertSame(run(training(0).folder(plainRun).resume()), one, 0);
    }

    /** The state of all places of a rank is sharded alike; checkpoints have that of the first. */
    @Test
    void shardedStateOfSeveralPlacesChangesNothing() throws Exception {
        Path plainRun = folder.resolve("plain");
        Path shardedRun = folder.resolve("sharded");
        Exchange exchange = Exchange.PLAIN.sharded(true);
        List<Place> places = List.of(Place.CPU, Place.parse("sim:0"));
        List<Trained> plain = ranks(3, ranks -> run(training(0).communicator(ranks).places(places).folder(plainRun)
                .steps(12)));
        List<Trained> sharded = ranks(3, ranks -> run(training(0).communicator(ranks).places(places)
                .folder(shardedRun).steps(12).exchange(exchange)));
        assertEquals(plain.getFirst().result(), sharded.getFirst().result());
        Path file = Path.of("checkpoints", "12", "variables.pdiparams");
        assertArrayEquals(Files.readAllBytes(plainRun.resolve(file)), Files.readAllBytes(shardedRun.resolve(file)));
        List<Trained> resumed = ranks(3, ranks -> run(training(0).communicator(ranks).places(places)
                .folder(shardedRun).steps(20).resume().exchange(exchange)));
        Trained expected = ranks(3, ranks -> run(training(0).communicator(ranks).places(places).folder(plainRun)
                .steps(20).resume())).getFirst();
        assertEquals(expected.result(), resumed.getFirst().result());
        expected.values().forEach((name, values) -> {
            double[] actual = resumed.getFirst().values().get(name);
            // The state of other places stays where it is.
            assertTrue(actual != null || name.contains("@"), name);
            if (actual != null) {
                assertArrayEquals(values, actual, name);
            }
        });
    }

    /** In a step, or while the state is gathered for a checkpoint. */
    @Test
    void aRankThatDiesEndsATrainingWithShardedState() {
        for (long last : new long[]{6, 7}) {
            Throwable failure = assertThrows(ExecutionException.class, () -> ranks(2, ranks -> {
                TrainingListener dying = new TrainingListener() {
                    @Override
                    public void step(Step step) {
                        if (step.step() == last && ranks.rank() == 1) {
                            throw new IllegalStateException("as planned");
                        }
                    }
                };
                return run(training(0).communicator(ranks).folder(folder.resolve("run" + last)).checkpointEvery(2)
                        .exchange(Exchange.PLAIN.sharded(true)).listener(dying));
            }));
            Throwable cause = failure;
            while (cause.getCause() != null && !(cause instanceof CommunicationException)) {
                cause = cause.getCause();
            }
            assertEquals(1, assertInstanceOf(CommunicationException.class, cause).rank(), failure::toString);
        }
    }

    /** Only rank 0 sees the request. */
    @Test
    void oneRequestStopsAllAndTheyGoOnAsIfNothingHadBeen() throws Exception {
        Path run = folder.resolve("run");
        Trained whole = ranks(2, ranks -> run(training(0.3).communicator(ranks))).getFirst();
        List<Trained> stopped = ranks(2, ranks -> {
            StopSignal stop = new StopSignal();
            TrainingListener listener = new TrainingListener() {
                @Override
                public void step(Step step) {
                    if (step.step() == 12 && ranks.rank() == 1) {
                        stop.request();
                    }
                }
            };
            return run(training(0.3).communicator(ranks).folder(run).stop(stop).listener(listener));
        });
        for (Trained each : stopped) {
            assertEquals(End.STOPPED, each.result().end());
            assertEquals(12, each.result().step());
        }
        List<Trained> resumed = ranks(2, ranks -> run(training(0.3).communicator(ranks).folder(run).resume()));
        assertEquals(whole.result().step(), resumed.getFirst().result().step());
        assertEquals(whole.result().bestLoss(), resumed.getFirst().result().bestLoss());
        // Rank 0 has gone back to its best checkpoint.
        assertSame(whole, resumed.get(1), 0);
    }

    @Test
    void otherNumbersOfRanksGoOnFromACheckpoint() throws Exception {
        Path run = folder.resolve("run");
        run(training(0).folder(run).steps(10));
        List<Trained> two = ranks(2, ranks -> run(training(0).communicator(ranks).folder(run).steps(20).resume()));
        assertEquals(20, two.get(1).result().step());
        Trained one = run(training(0).folder(run).resume());
        assertEquals(33, one.result().step());
        assertSame(run(training(0).folder(folder.resolve("other"))), one, 2e-4);
    }

    @Test
    void ranksWithOtherOptionsAndBatchesThatAreNotDividedAreRefused() {
        Throwable failure = assertThrows(ExecutionException.class,
                () -> ranks(2, ranks -> run(training(0).communicator(ranks).seed(ranks.rank())))).getCause();
        assertInstanceOf(IllegalArgumentException.class, failure);
        assertTrue(String.valueOf(failure.getMessage()).contains("same model, data and options"), failure::toString);
        failure = assertThrows(ExecutionException.class,
                () -> ranks(2, ranks -> run(training(0).communicator(ranks).batch(15)))).getCause();
        assertInstanceOf(IllegalArgumentException.class, failure);
        assertTrue(String.valueOf(failure.getMessage()).contains("batch of 15"), failure::toString);
        assertTrue(String.valueOf(failure.getMessage()).contains("2 ranks"), failure::toString);
    }

    /** The order in which batches take the examples of a data set in the first epoch. */
    private static int[] order(int size, int batch, long seed) throws IOException {
        Dataset numbers = new Dataset() {
            @Override
            public List<Field> fields() {
                return List.of(new Field("number", DType.INT64, Shape.of(1)));
            }

            @Override
            public int size() {
                return size;
            }

            @Override
            public List<Tensor> batch(int[] examples) {
                return List.of(Tensor.of(Arrays.stream(examples).asLongStream().toArray(), examples.length, 1));
            }
        };
        List<Integer> order = new ArrayList<>();
        Batches batches = Batches.of(numbers, batch, seed);
        for (List<Tensor> next = batches.next(); next != null; next = batches.next()) {
            Arrays.stream(next.getFirst().toLongArray()).forEach(each -> order.add((int) each));
        }
        return order.stream().mapToInt(Integer::intValue).toArray();
    }

    /** All examples in one data set, such that the batches of its first epoch are those of ranks with their own. */
    private record Joined(List<Dataset> ranks, List<int[]> orders, int each, List<Integer> position)
            implements
                Dataset {
        static Joined of(List<Dataset> ranks, int batch, long seed) throws IOException {
            int each = batch / ranks.size();
            int steps = ranks.stream().mapToInt(rank -> rank.size() / each).min().orElseThrow();
            List<int[]> orders = new ArrayList<>();
            for (Dataset rank : ranks) {
                orders.add(order(rank.size(), each, seed + orders.size() * 0x9E3779B97F4A7C15L));
            }
            int[] position = new int[steps * batch];
            int[] order = order(position.length, batch, seed);
            for (int i = 0; i < order.length; i++) {
                position[order[i]] = i;
            }
            return new Joined(ranks, orders, each, Arrays.stream(position).boxed().toList());
        }

        @Override
        public List<Field> fields() {
            return ranks.getFirst().fields();
        }

        @Override
        public int size() {
            return position.size();
        }

        @Override
        public List<Tensor> batch(int[] examples) throws IOException {
            float[] x = new float[2 * examples.length];
            long[] y = new long[examples.length];
            for (int i = 0; i < examples.length; i++) {
                int at = position.get(examples[i]);
                int rank = at / each % ranks.size();
                int own = orders.get(rank)[at / (each * ranks.size()) * each + at % each];
                List<Tensor> example = ranks.get(rank).batch(new int[]{own});
                System.arraycopy(example.get(0).toFloatArray(), 0, x, 2 * i, 2);
                y[i] = example.get(1).toLongArray()[0];
            }
            return List.of(Tensor.of(x, examples.length, 2), Tensor.of(y, examples.length, 1));
        }
    }

    @Test
    void ranksWithExamplesOfTheirOwnTrainLikeThoseThatHaveAll() throws Exception {
        List<Dataset> parts = List.of(new Spirals(100, 3), new Spirals(131, 4));
        Split all = new Split(Joined.of(parts, 30, 7), DATA.validation());
        List<Trained> expected = ranks(2, ranks -> run(Trainer.of(model(0.3), all).batch(30).seed(7)
                .communicator(ranks)));
        List<Trained> own = ranks(2, ranks -> run(Trainer.of(model(0.3), new Split(parts.get(ranks.rank()),
                DATA.validation())).batch(30).seed(7).communicator(ranks).ownExamples()));
        assertEquals(6, own.getFirst().result().step());
        assertEquals(expected.getFirst().result(), own.getFirst().result());
        own.forEach(each -> assertSame(expected.getFirst(), each, 0));
        // Without evaluations, and in parts: what is left out differs from epoch to epoch.
        Body<Trainer.Builder> longer = ranks -> Trainer.of(model(0.3), new Split(parts.get(ranks.rank()),
                DATA.validation())).batch(30).seed(7).epochs(3).communicator(ranks).ownExamples().withoutEvaluation()
                .checkpointEvery(5);
        Trained whole = ranks(2, ranks -> run(longer.run(ranks))).getFirst();
        assertEquals(-1, whole.result().bestStep());
        Path run = folder.resolve("run");
        ranks(2, ranks -> run(longer.run(ranks).folder(run).steps(11)));
        List<Trained> resumed = ranks(2, ranks -> run(longer.run(ranks).folder(run).resume()));
        assertEquals(18, resumed.getFirst().result().step());
        resumed.forEach(each -> assertSame(whole, each, 0));
    }

    @Test
    void aRankWithTooFewExamplesIsAnErrorOfAll() {
        for (int failing = 0; failing < 2; failing++) {
            int few = failing;
            Throwable failure = assertThrows(ExecutionException.class, () -> ranks(2, ranks -> run(Trainer
                    .of(model(0), new Split(new Spirals(ranks.rank() == few ? 14 : 40, 3), DATA.validation())).batch(30)
                    .communicator(ranks).ownExamples()))).getCause();
            assertInstanceOf(IllegalArgumentException.class, failure);
            assertTrue(String.valueOf(failure.getMessage()).contains("15 examples of each of 2 ranks"),
                    failure::toString);
        }
    }
}

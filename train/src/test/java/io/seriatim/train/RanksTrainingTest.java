package io.seriatim.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cluster.Cluster;
import io.seriatim.cluster.ClusterOptions;
import io.seriatim.cluster.Rendezvous;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
        List<Program> evaluation = new ArrayList<>();
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 2);
            Value y = graph.data("y", DType.INT64, -1, 1);
            Value hidden = graph.dropout(graph.linear(x, 32).tanh(), dropout);
            Value logits = graph.linear(graph.linear(hidden, 32).relu(), Spirals.CLASSES);
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
}

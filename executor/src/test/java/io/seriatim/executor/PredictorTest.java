package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class PredictorTest {
    @TempDir
    Path folder = Path.of("");

    /** Writes a model that multiplies by a number. */
    private Path model(String file, String input, float factor) throws IOException {
        Network network = Network.define(g -> {
            Value x = g.data(input, FLOAT32, -1, 2);
            return Outputs.of("y", x.times(factor));
        });
        String y = network.outputs().get("y").name();
        InferenceModels.save(folder.resolve(file), network.main(), List.of(input), List.of(y), _ -> null);
        return folder.resolve(file + ".pdmodel");
    }

    private static float[] first(Predictor predictor, Map<String, Tensor> inputs) {
        return predictor.run(inputs).get(predictor.outputs().getFirst().name()).toFloatArray();
    }

    private static void assertSays(String part, Throwable thrown) {
        assertTrue(String.valueOf(thrown.getMessage()).contains(part), thrown.getMessage());
    }

    @Test
    void answersByNames() throws IOException {
        try (Predictor predictor = Predictor.load(model("a", "x", 3))) {
            assertEquals(List.of(new Predictor.Port("x", DType.FLOAT32, List.of(-1L, 2L))), predictor.inputs());
            predictor.warmUp(Map.of("x", new long[]{1, 2}));
            assertArrayEquals(new float[]{3, 6}, first(predictor, Map.of("x", Tensor.of(new float[]{1, 2}, 1, 2))));
            assertEquals(1, predictor.statistics().requests());
            assertTrue(predictor.statistics().latency().max().compareTo(Duration.ZERO) > 0);
        }
    }

    @Test
    void openSizesAreGivenWhenTheModelIsLoaded() throws IOException {
        LoadOptions options = LoadOptions.defaults().shape("x", 3, 2);
        try (Predictor predictor = Predictor.builder(model("a", "x", 3)).load(options).build()) {
            assertEquals(List.of(3L, 2L), predictor.inputs().getFirst().sizes());
            assertThrows(BadRequestException.class,
                    () -> predictor.run(Map.of("x", Tensor.of(new float[]{1, 2}, 1, 2))));
        }
    }

    @Test
    void sizesAreKeptAsManyAsWanted() throws IOException {
        for (int kept : new int[]{2, 5}) {
            try (Predictor predictor = Predictor.builder(model("a", "x", 3)).specialisations(kept).build()) {
                for (int i = 0; i < 10; i++) {
                    float[] x = new float[2 * (1 + i % 5)];
                    Arrays.fill(x, i);
                    assertEquals(3 * i, first(predictor, Map.of("x", Tensor.of(x, x.length / 2, 2)))[0]);
                }
                assertEquals(kept, predictor.bindings().kept());
                // The first size that has come as often as the others stays.
                assertEquals(kept == 5 ? 5 : 1, predictor.bindings().hits());
            }
        }
        assertThrows(IllegalArgumentException.class, () -> Predictor.builder(folder).specialisations(0));
    }

    @Test
    void mistakesOfCallersAreBadRequests() throws IOException {
        Tensor x = Tensor.of(new float[]{1, 2}, 1, 2);
        Predictor predictor = Predictor.builder(model("a", "x", 3)).threads(1).memory(1 << 24).build();
        try (predictor) {
            assertSays("no input [z]", assertThrows(BadRequestException.class, () -> predictor.run(Map.of("z", x))));
            assertSays("'x' is missing", assertThrows(BadRequestException.class, () -> predictor.run(Map.of())));
            assertThrows(RunTimeoutException.class,
                    () -> predictor.run(Map.of("x", x), RunOptions.timeout(Duration.ZERO)));
            assertEquals(new Predictor.Statistics(0, 3, predictor.statistics().latency()), predictor.statistics());
        }
        assertThrows(IllegalStateException.class, () -> predictor.run(Map.of("x", x)));
        assertThrows(IllegalArgumentException.class, () -> Predictor.builder(folder).batching(0));
    }

    /** Threads ask all the time while the model is replaced; each answer is that of one of both models. */
    @Test
    void noRequestIsLostWhenTheModelIsReplaced() throws Exception {
        Path a = model("a", "x", 3);
        Path b = model("b", "x", 5);
        Path other = model("other", "other", 5);
        Files.writeString(folder.resolve("damaged.pdmodel"), "nothing");
        try (Predictor predictor = Predictor.builder(a).batching(4).build()) {
            CountDownLatch begun = new CountDownLatch(4);
            CountDownLatch replaced = new CountDownLatch(1);
            List<FutureTask<Boolean>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                FutureTask<Boolean> task = new FutureTask<>(() -> {
                    float answer = 0;
                    // After the replacement at least one more request, which the new model answers.
                    for (boolean last = false; !last;) {
                        last = replaced.getCount() == 0;
                        answer = first(predictor, Map.of("x", Tensor.of(new float[]{1, 2}, 1, 2)))[1];
                        if (answer != 6 && answer != 10) {
                            return false;
                        }
                        begun.countDown();
                    }
                    return answer == 10;
                });
                all.add(task);
                Thread.ofPlatform().start(task);
            }
            begun.await();
            predictor.replace(b);
            replaced.countDown();
            for (FutureTask<Boolean> task : all) {
                assertTrue(task.get());
            }
            assertThrows(IllegalArgumentException.class, () -> predictor.replace(other));
            assertThrows(IOException.class, () -> predictor.replace(folder.resolve("damaged.pdmodel")));
            assertEquals(10, first(predictor, Map.of("x", Tensor.of(new float[]{1, 2}, 1, 2)))[1]);
            assertEquals(0, predictor.statistics().failures());
        }
    }

    /** The waiting time, of an hour, ends when the batch is full; requests with time limits are in it too. */
    @Test
    void requestsWaitForOthersUpToATime() throws Exception {
        Predictor predictor = Predictor.builder(model("a", "x", 3)).batching(2, Duration.ofHours(1)).build();
        try (predictor) {
            predictor.warmUp(Map.of("x", new long[]{1, 2}));
            FutureTask<float[]> other = new FutureTask<>(
                    () -> first(predictor, Map.of("x", Tensor.of(new float[]{1, 2}, 1, 2))));
            Thread.ofPlatform().start(other);
            RunOptions options = RunOptions.timeout(Duration.ofDays(1));
            Results answer = predictor.run(Map.of("x", Tensor.of(new float[]{3, 4}, 1, 2)), options);
            assertArrayEquals(new float[]{9, 12}, answer.get(predictor.outputs().getFirst().name()).toFloatArray());
            assertArrayEquals(new float[]{3, 6}, other.get());
            assertEquals(2, predictor.statistics().requests());
        }
        assertSays("must be 0 or more, but is PT-1S", assertThrows(IllegalArgumentException.class,
                () -> Predictor.builder(folder).batching(2, Duration.ofSeconds(-1))));
    }

    /** The new model is warmed up before it takes over; one that does not accept these sizes does not. */
    @Test
    void aModelThatReplacesAnotherIsWarmedUpToo() throws IOException {
        Network network = Network.define(g -> Outputs.of("y", g.data("x", FLOAT32, -1, 3).times(2)));
        InferenceModels.save(folder.resolve("wide"), network.main(), List.of("x"),
                List.of(network.outputs().get("y").name()), _ -> null);
        try (Predictor predictor = Predictor.load(model("a", "x", 3))) {
            predictor.warmUp(Map.of("x", new long[]{1, 2}));
            assertSays("'x'", assertThrows(BadRequestException.class,
                    () -> predictor.replace(folder.resolve("wide.pdmodel"))));
            Map<String, Tensor> x = Map.of("x", Tensor.of(new float[]{1, 2}, 1, 2));
            assertArrayEquals(new float[]{3, 6}, first(predictor, x));
            predictor.replace(model("b", "x", 5));
            assertArrayEquals(new float[]{5, 10}, first(predictor, x));
        }
    }

    @Test
    void quantilesAreAtMostASixtyFourthTooLarge() {
        LatencyHistogram histogram = new LatencyHistogram();
        for (long i = 1; i <= 100_000; i++) {
            histogram.record(i * 1000);
        }
        histogram.record(-1);
        Predictor.Latency times = histogram.snapshot();
        assertEquals(100_001, times.count());
        assertEquals(Duration.ofMillis(100), times.max());
        for (Map.Entry<Duration, Long> each : Map.of(times.p50(), 50_000_000L, times.p90(), 90_000_000L, times.p99(),
                99_000_000L, times.p999(), 99_900_000L).entrySet()) {
            double ratio = (double) each.getKey().toNanos() / each.getValue();
            assertTrue(ratio >= 0.9999 && ratio <= 1 + 1.0 / 64, () -> each.getKey() + " for " + each.getValue());
        }
        LatencyHistogram longest = new LatencyHistogram();
        longest.record(Long.MAX_VALUE);
        assertEquals(Duration.ofNanos(Long.MAX_VALUE), longest.snapshot().p50());
        assertEquals(Duration.ZERO, new LatencyHistogram().snapshot().p50());
    }
}

package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs end early at a time limit, and when a stage completes. */
@Timeout(120)
class RunOptionsTest {
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofMillis(20);

    /** Returns a loop that ends only if x is 5 or more; it calls a probe in each iteration and writes w after it. */
    private static Network loop(String key) {
        return Network.define(g -> {
            Value x = g.data("x", FLOAT32, 1);
            Value w = g.full(FLOAT32, 7, 1);
            List<Value> result = g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(FLOAT32, 5, 1))), v -> {
                Value step = g.op(Probes.CALL).in("X", x).attr("key", key).one("Out");
                return List.of(v.getFirst().plus(step.times(0)), v.get(1).plus(1));
            }, x.times(1), g.full(INT64, 0, 1));
            return Outputs.of("count", result.get(1), "w", w);
        });
    }

    private static Plan plan(Executor executor, Network network) {
        String count = network.outputs().get("count").name();
        String w = network.outputs().get("w").name();
        network.main().global().put(network.main().global().get(w).persistent());
        return executor.compile(network.main(), Executor.feeds("x"), Executor.fetches(count, w));
    }

    private static void assertNames(Throwable thrown, String... parts) {
        for (String part : parts) {
            assertTrue(String.valueOf(thrown.getMessage()).contains(part), thrown.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anEndlessLoopEndsAtTheTimeLimit(int threads) {
        Network network = loop("time limit");
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = plan(executor, network);
            RunTimeoutException e = assertThrows(RunTimeoutException.class,
                    () -> plan.run(RunOptions.timeout(SHORT), Bits.floats(1)));
            assertNames(e, "PT0.02S", "no variable is partly updated");
            assertEquals(0, plan.run(RunOptions.timeout(LONG), Bits.floats(6)).get(
                    network.outputs().get("count").name()).getDouble(0), "the next run works");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "pooled", "shuffled"})
    void aStageEndsARunInTheIterationInWhichItCompletes(String engine) {
        CompletableFuture<String> gone = new CompletableFuture<>();
        AtomicInteger calls = new AtomicInteger();
        Probes.on("stage " + engine, _ -> {
            if (calls.incrementAndGet() == 4) {
                gone.complete("the client");
            }
        });
        Network network = loop("stage " + engine);
        Engine shared = switch (engine) {
            case "pooled" -> Engine.builder().pooled(2).build();
            case "shuffled" -> Engine.builder().shuffled(3).build();
            default -> null;
        };
        Executor.Builder builder = Executor.builder();
        try (Executor executor = (shared == null ? builder : builder.engine(shared)).build()) {
            Plan plan = plan(executor, network);
            CancellationException e = assertThrows(CancellationException.class,
                    () -> plan.run(RunOptions.defaults().cancelOn(gone), Bits.floats(1)));
            assertNames(e, "cancelled", "in iteration 4 of operation", "(while '");
            assertEquals(4, calls.get(), "no operation begins after the stage has completed");
            assertThrows(CancellationException.class,
                    () -> plan.run(RunOptions.timeout(LONG).cancelOn(gone), Bits.floats(1)), "before the run");
            assertFalse(Thread.interrupted(), "the interrupt of a wait does not outlive it");
        } finally {
            if (shared != null) {
                shared.close();
            }
        }
    }

    @Test
    void aRunThatWaitsForTheScopeEndsToo() throws Exception {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(1);
        Probes.on("scope", _ -> begun.countDown());
        Network network = loop("scope");
        try (Executor executor = Executor.builder().build()) {
            Plan plan = plan(executor, network);
            FutureTask<Results> first = new FutureTask<>(
                    () -> plan.run(RunOptions.defaults().cancelOn(gone), Bits.floats(1)));
            Thread.ofPlatform().start(first);
            begun.await();
            assertNames(assertThrows(RunTimeoutException.class,
                    () -> plan.run(RunOptions.timeout(SHORT), Bits.floats(6))), "before its first operation");
            assertNames(assertThrows(RunTimeoutException.class,
                    () -> plan.run(RunOptions.timeout(Duration.ZERO), Bits.floats(6))), "before its first operation");
            assertFalse(Thread.interrupted());
            gone.completeExceptionally(new IllegalStateException("connection reset"));
            Throwable thrown = assertThrows(ExecutionException.class, first::get);
            CancellationException cancelled = assertInstanceOf(CancellationException.class, thrown.getCause());
            assertNames(assertInstanceOf(IllegalStateException.class, cancelled.getCause()), "connection reset");
            assertEquals(7, plan.run(Bits.floats(6)).get(network.outputs().get("w").name()).getDouble(0));
        }
    }

    /** A stage that outlives many runs, such as the shutdown of a service, keeps nothing of them. */
    @Test
    void aStageDoesNotCollectRuns() {
        CompletableFuture<Void> shutdown = new CompletableFuture<>();
        Network network = loop("many");
        try (Executor executor = Executor.builder().build()) {
            Plan plan = plan(executor, network);
            RunOptions options = RunOptions.timeout(LONG).cancelOn(shutdown);
            for (int i = 0; i < 1000; i++) {
                plan.run(options, Bits.floats(6));
            }
            assertTrue(shutdown.getNumberOfDependents() <= 1, () -> "" + shutdown.getNumberOfDependents());
        }
    }

    @Test
    void negativeTimesAreRefused() {
        assertNames(assertThrows(IllegalArgumentException.class, () -> RunOptions.timeout(Duration.ofMillis(-1))),
                "0 or more", "-0.001S");
        assertNames(new RuntimeException(RunOptions.timeout(LONG).toString()), "PT1H");
    }
}

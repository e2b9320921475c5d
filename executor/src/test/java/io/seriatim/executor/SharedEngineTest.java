package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs that are called and runs that are pushed share one engine: no thread waits in a way that deadlocks the others.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SharedEngineTest {
    private static final long LIMIT_SECONDS = 20;

    /** Engines with little capacity. */
    enum Kind {
        ONE_WORKER, POOL_OF_ONE, LITTLE_ROOM, SHUFFLED, NAIVE;

        Engine open() {
            return switch (this) {
                case ONE_WORKER -> Engine.builder().workers(Lane.CPU, 1).build();
                case POOL_OF_ONE -> Engine.builder().pooled(1).build();
                case LITTLE_ROOM -> Engine.builder().workers(Lane.CPU, 1).maxPending(2).build();
                case SHUFFLED -> Engine.builder().shuffled(5).build();
                case NAIVE -> Engine.builder().naive().build();
            };
        }
    }

    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    /** Returns a program that computes count += x after a probe. */
    private static Program counting() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, 1)))
                .put(VarDesc.of("count", VarType.dense(FLOAT32, 1)).persistent())
                .put(VarDesc.of("after", VarType.dense(FLOAT32, 1))).add(Probes.of(Probes.CALL, "count", "between"))
                .add(OpDesc.of("elementwise_add").in("X", "count").in("Y", "x").out("Out", "count").attr("axis", -1)
                        .build())
                .add(OpDesc.of("assign").in("X", "count").out("Out", "after").build());
        return program;
    }

    private static <T> CompletableFuture<T> started(Supplier<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(work.get());
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /**
     * The first run is called and blocks in the middle until others have been pushed, which fill an engine of small
     * capacity.
     */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"SHUFFLED", "NAIVE"})
    void aRunThatIsCalledBesideRunsThatArePushed(Kind kind) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Probes.on("between", _ -> {
            inside.countDown();
            Engine.blocking(go::await);
        });
        try (Engine engine = kind.open(); Executor executor = Executor.builder().engine(engine).build()) {
            Plan plan = executor.compile(counting(), feeds("x"), fetches("after"));
            Scope scope = new Scope().set("count", Bits.floats(0));
            NDArrays nd = NDArrays.on(engine);
            NDArray x = nd.ones(1);
            NDArray out = nd.zeros(1);
            nd.waitForAll();
            CompletableFuture<Results> called = started(() -> plan.run(scope, Bits.floats(1)));
            inside.await();
            CompletableFuture<Integer> pushing = started(() -> {
                for (int i = 0; i < 6; i++) {
                    plan.push(engine, scope, Map.of("x", x), Map.of("after", out));
                }
                return 6;
            });
            if (kind == Kind.LITTLE_ROOM) {
                go.countDown();
                assertEquals(6, pushing.get(LIMIT_SECONDS, TimeUnit.SECONDS));
            } else {
                assertEquals(6, pushing.get(LIMIT_SECONDS, TimeUnit.SECONDS));
                go.countDown();
            }
            assertEquals(7, started(() -> scope(engine, scope)).get(LIMIT_SECONDS, TimeUnit.SECONDS));
            called.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static float scope(Engine engine, Scope scope) {
        try {
            engine.waitToRead(scope.var());
            return scope.get("count").toFloatArray()[0];
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int lengthOf(NDArray array) {
        try {
            return array.toArray().length;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Several threads call and push runs on every kind of engine. No run observes the count in the middle of another
     * run.
     */
    @ParameterizedTest
    @EnumSource
    void manyOfBoth(Kind kind) throws Exception {
        try (Engine engine = kind.open(); Executor executor = Executor.builder().engine(engine).build()) {
            Plan plan = executor.compile(counting(), feeds("x"), fetches("after"));
            Scope scope = new Scope().set("count", Bits.floats(0));
            NDArrays nd = NDArrays.on(engine);
            List<CompletableFuture<Integer>> all = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                all.add(started(() -> {
                    for (int i = 0; i < 15; i++) {
                        plan.run(scope, Bits.floats(1));
                    }
                    return 15;
                }));
                all.add(started(() -> {
                    NDArray x = nd.ones(1);
                    NDArray out = nd.zeros(1);
                    for (int i = 0; i < 15; i++) {
                        plan.push(engine, scope, Map.of("x", x), Map.of("after", out));
                    }
                    return lengthOf(out);
                }));
            }
            for (CompletableFuture<Integer> each : all) {
                each.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
            assertEquals(60, started(() -> scope(engine, scope)).get(LIMIT_SECONDS, TimeUnit.SECONDS));
        }
    }

    /**
     * The worker of an engine waits for the scope, whose holder needs that worker. The executor itself uses no engine
     * of the caller.
     */
    @Test
    void aWorkerThatWaitsForTheScopeIsReplaced() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        try (Engine engine = Engine.builder().workers(Lane.CPU, 1).build();
                Executor executor = Executor.builder().build()) {
            CompletableFuture<Integer> needed = new CompletableFuture<>();
            Plan plan = executor.compile(counting(), feeds("x"), fetches("after"));
            Scope scope = new Scope().set("count", Bits.floats(0));
            Probes.on("between", _ -> {
                if (inside.getCount() > 0) {
                    inside.countDown();
                    needed.get(LIMIT_SECONDS, TimeUnit.SECONDS);
                }
            });
            CompletableFuture<Results> called = started(() -> plan.run(scope, Bits.floats(1)));
            inside.await();
            CompletableFuture<Results> own = engine.op("calls a plan").call(() -> plan.run(scope, Bits.floats(1)));
            engine.op("is needed by the first run").push(() -> needed.complete(1));
            assertEquals(1, called.get(LIMIT_SECONDS, TimeUnit.SECONDS).scalar("after"));
            assertEquals(2, own.get(LIMIT_SECONDS, TimeUnit.SECONDS).scalar("after"));
        }
    }

    /** Reads outside of operations, and within an operation that occupies the engine's only worker. */
    @Test
    void aReaderReadsAheadOnAFullEngine() throws Exception {
        Network network = Network
                .define(g -> Outputs.of("y",
                        g.reader("data", Map.of("x", VarType.TensorType.of(FLOAT32, -1))).getFirst().times(2)));
        String y = network.outputs().get("y").name();
        CountDownLatch full = new CountDownLatch(1);
        try (Engine engine = Engine.builder().pooled(1).maxPending(2).build();
                Executor executor = Executor.builder().build();
                Reader reader = Reader.builder(new NumberSource(20)).engine(engine).build()) {
            Plan plan = executor.compile(network.main(), feeds(), fetches(y));
            CompletableFuture<Results> inOperation = new CompletableFuture<>();
            engine.op("reads when the engine is full").push(() -> {
                full.await();
                try {
                    inOperation.complete(plan.run(new Scope().set("data", reader)));
                } catch (RuntimeException e) {
                    inOperation.completeExceptionally(e);
                }
            });
            engine.op("fills the engine").push(() -> {
            });
            CompletableFuture<Results> outside = started(() -> plan.run(new Scope().set("data", reader)));
            assertEquals(0, outside.get(LIMIT_SECONDS, TimeUnit.SECONDS).scalar(y), "though the engine is full");
            full.countDown();
            assertEquals(2, inOperation.get(LIMIT_SECONDS, TimeUnit.SECONDS).scalar(y));
        }
    }

    /** Returns a program that adds the reader's batch to count. */
    private static Program countingWhatIsRead() {
        Program program = Network.define(
                g -> Outputs.of("x", g.reader("data", Map.of("x", VarType.TensorType.of(FLOAT32, 1))).getFirst()))
                .main().copy();
        String x = program.global().ops().getLast().output("Out").getFirst();
        program.global().put(VarDesc.of("count", VarType.dense(FLOAT32, 1)).persistent())
                .add(OpDesc.of("elementwise_add").in("X", "count").in("Y", x).out("Out", "count").attr("axis", -1)
                        .build());
        return program;
    }

    /**
     * An engine is full of operations that wait for the scope. The holder of the scope is a thread outside of the
     * engine that reads ahead on it. No push under the scope's lock may wait for capacity.
     */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"SHUFFLED", "NAIVE"})
    void aReaderOnAnEngineThatIsFullOfRunsOfItsScope(Kind kind) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch full = new CountDownLatch(1);
        try (Engine engine = kind.open();
                Executor executor = Executor.builder().build();
                Reader reader = Reader.builder(new NumberSource(20)).engine(engine).build()) {
            Plan reads = executor.compile(countingWhatIsRead(), feeds(), fetches("count"));
            Plan counts = executor.compile(counting(), feeds("x"), fetches("after"));
            Scope scope = new Scope().set("count", Bits.floats(0)).set("data", reader);
            Probes.on("between", _ -> {
                inside.countDown();
                full.await();
            });
            // Holds the lock until the engine is full, so that first the run that reads and then the operations wait
            // for it.
            CompletableFuture<Results> first = started(() -> counts.run(scope, Bits.floats(100)));
            inside.await();
            CompletableFuture<Results> reading = new CompletableFuture<>();
            Thread thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    reading.complete(reads.run(scope));
                } catch (RuntimeException e) {
                    reading.completeExceptionally(e);
                }
            });
            awaitWaiting(thread);
            List<CompletableFuture<Results>> runs = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                runs.add(engine.op("runs on the scope").call(() -> counts.run(scope, Bits.floats(1000))));
            }
            full.countDown();
            first.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            reading.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            for (CompletableFuture<Results> run : runs) {
                run.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
            assertEquals(2100, scope.get("count").toFloatArray()[0]);
        }
    }

    private static void awaitWaiting(Thread thread) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            assertTrue(System.nanoTime() < end, "It should wait");
            Thread.onSpinWait();
        }
    }

    /**
     * A run that is interrupted while it waits for the scope has changed nothing, and the engine's worker is not
     * interrupted afterwards.
     */
    @Test
    void aRunThatWaitsCanBeInterrupted() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Probes.on("between", _ -> {
            inside.countDown();
            go.await();
        });
        try (Engine engine = Engine.builder().workers(Lane.CPU, 1).build();
                Executor executor = Executor.builder().engine(engine).build()) {
            Plan plan = executor.compile(counting(), feeds("x"), fetches("after"));
            Scope scope = new Scope().set("count", Bits.floats(0));
            CompletableFuture<Results> first = started(() -> plan.run(scope, Bits.floats(1)));
            inside.await();
            CompletableFuture<String> second = new CompletableFuture<>();
            Thread waits = Thread.ofPlatform().daemon().start(() -> {
                try {
                    plan.run(scope, Bits.floats(10));
                    second.complete("ran");
                } catch (ProgramFailedException e) {
                    second.complete(e.getMessage() + Thread.currentThread().isInterrupted());
                }
            });
            waits.interrupt();
            assertEquals("Interrupted before the run began; no variable was changed: run the plan againtrue",
                    second.get(LIMIT_SECONDS, TimeUnit.SECONDS));
            go.countDown();
            assertEquals(1, first.get(LIMIT_SECONDS, TimeUnit.SECONDS).scalar("after"));
            assertEquals(3, plan.run(scope, Bits.floats(2)).scalar("after"));
            assertFalse(engine.op("after").call(() -> Thread.currentThread().isInterrupted()).get(LIMIT_SECONDS,
                    TimeUnit.SECONDS));
        }
    }
}

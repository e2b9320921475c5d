package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.run.OpenRuns;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that are batched get the same results as without batching. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RequestBatcherTest {
    private static final long SEED = 20261122;

    private final Executor executor = Executor.builder().build();
    /** The number of rows of each run, in order. */
    private final List<Long> rows = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch go = new CountDownLatch(1);

    @BeforeEach
    void watch() {
        executor.scope().set("w", Bits.floats(2, 3));
        Probes.on("run", x -> {
            rows.add(x.shape().dim(0));
            if (rows.size() == 1) {
                go.await();
            }
            for (float value : x.toFloatArray()) {
                if (value < 0) {
                    throw new IllegalStateException("A request is bad");
                }
            }
        });
    }

    @AfterEach
    void close() {
        // A failed test may have left blocked runs, for which closing would wait.
        go.countDown();
        executor.close();
        Probes.allOff();
    }

    /** Returns a plan that computes y = x · w, with a probe of x before. */
    private Plan plan(long... dims) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, dims)))
                .put(VarDesc.of("w", VarType.dense(FLOAT32, 2)).persistent())
                .put(VarDesc.of("y", VarType.dense(FLOAT32, dims))).add(Probes.of(Probes.CALL, "x", "run"))
                .add(OpDesc.of("elementwise_mul").in("X", "x").in("Y", "w").out("Out", "y").attr("axis", -1).build());
        return executor.compile(program, feeds("x"), fetches("y"));
    }

    private static Tensor request(long seed, int rows) {
        return Tensor.of(FLOAT32, new Random(seed).doubles(2L * rows).toArray(), rows, 2);
    }

    /** A thread that makes a request, and its result. */
    private static final class Caller {
        private final AtomicReference<Object> got = new AtomicReference<>();
        private final Thread thread;
        private final Tensor x;

        Caller(RequestBatcher batcher, Tensor x) {
            this.x = x;
            thread = Thread.ofPlatform().start(() -> {
                try {
                    got.set(batcher.run(x).get("y"));
                } catch (RuntimeException | Error e) {
                    got.set(e);
                }
            });
        }

        /** Waits until the caller waits for other requests. */
        Caller awaitTurn(RequestBatcher batcher) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!batcher.equals(LockSupport.getBlocker(thread))) {
                assertTrue(thread.isAlive() && System.nanoTime() < end,
                        () -> "It should wait, but is " + thread.getState());
                Thread.onSpinWait();
            }
            return this;
        }

        Object result() throws InterruptedException {
            thread.join();
            return got.get();
        }

        void assertAnswered() throws InterruptedException {
            Tensor y = assertInstanceOf(Tensor.class, result());
            float[] expected = x.toFloatArray();
            for (int i = 0; i < expected.length; i++) {
                expected[i] *= i % 2 == 0 ? 2 : 3;
            }
            assertEquals(x.spec(), y.spec());
            assertArrayEquals(expected, y.toFloatArray());
        }
    }

    /** Starts one caller, which runs until {@link #go}, and others, which wait. */
    private List<Caller> callers(RequestBatcher batcher, Tensor... requests) {
        List<Caller> callers = new ArrayList<>();
        for (Tensor request : requests) {
            Caller caller = new Caller(batcher, request);
            if (callers.isEmpty()) {
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                while (rows.isEmpty()) {
                    assertTrue(System.nanoTime() < end, "The first request should run");
                    Thread.onSpinWait();
                }
            } else {
                caller.awaitTurn(batcher);
            }
            callers.add(caller);
        }
        return callers;
    }

    private void assertAnswered(RequestBatcher batcher, List<Long> runs, Tensor... requests)
            throws InterruptedException {
        List<Caller> callers = callers(batcher, requests);
        go.countDown();
        for (Caller caller : callers) {
            caller.assertAnswered();
        }
        assertEquals(runs, rows);
        assertEquals(new RequestBatcher.Counts(requests.length, runs.size(), 0), batcher.counts());
    }

    @Test
    void thoseThatWaitAreOneRun() throws InterruptedException {
        assertAnswered(RequestBatcher.of(plan(-1, 2), 8, 1), List.of(1L, 2L, 1L), request(0, 1), request(1, 1),
                request(2, 1),
                request(3, 1));
    }

    @Test
    void aBatchHasAPowerOfTwoOfRowsIfThatCanBe() throws InterruptedException {
        assertAnswered(RequestBatcher.of(plan(-1, 2), 8, 1), List.of(1L, 8L), request(0, 1), request(1, 3),
                request(2, 1), request(3, 2),
                request(4, 2));
    }

    @Test
    void otherwiseARequestIsAlone() throws InterruptedException {
        assertAnswered(RequestBatcher.of(plan(-1, 2), 8, 1), List.of(1L, 3L, 3L), request(0, 1), request(1, 3),
                request(2, 3));
    }

    @Test
    void aBatchHasNoMoreRowsThanItMay() throws InterruptedException {
        assertAnswered(RequestBatcher.of(plan(-1, 2), 2, 1), List.of(9L, 2L, 2L, 5L), request(0, 9), request(1, 1),
                request(2, 1),
                request(3, 1),
                request(4, 5), request(5, 1));
    }

    @Test
    void aRequestWithoutRowsIsJoinedToo() throws InterruptedException {
        assertAnswered(RequestBatcher.of(plan(-1, 2), 8, 1), List.of(1L, 2L), request(0, 1), request(1, 0),
                request(2, 2));
    }

    @Test
    void rowsOfAnotherShapeAreAnotherBatch() throws InterruptedException {
        Tensor[] requests = {request(0, 1), request(1, 2).reshape(1, 2, 2), request(2, 2).reshape(2, 1, 2),
                request(3, 2).reshape(1, 2, 2)};
        requests[0] = requests[0].reshape(1, 1, 2);
        assertAnswered(RequestBatcher.of(plan(-1, -1, 2), 8, 1), List.of(1L, 2L, 2L), requests);
    }

    @Test
    void stridedRowsAreJoinedToo() throws InterruptedException {
        RequestBatcher batcher = RequestBatcher.of(plan(-1, 2), 4, 1);
        Tensor turned = request(1, 2).transpose(1, 0);
        List<Caller> callers = callers(batcher, request(0, 1), turned, request(2, 2));
        go.countDown();
        callers.getFirst().assertAnswered();
        callers.getLast().assertAnswered();
        Tensor y = assertInstanceOf(Tensor.class, callers.get(1).result());
        float[] x = turned.toFloatArray();
        assertArrayEquals(new float[]{2 * x[0], 3 * x[1], 2 * x[2], 3 * x[3]}, y.toFloatArray());
        assertEquals(List.of(1L, 4L), rows);
    }

    @Test
    void onlyABadRequestFails() throws InterruptedException {
        RequestBatcher batcher = RequestBatcher.of(plan(-1, 2), 4, 1);
        Tensor bad = Tensor.of(new float[]{1, -1}, 1, 2);
        List<Caller> callers = callers(batcher, request(0, 1), request(1, 1), bad, request(3, 1), request(4, 1));
        go.countDown();
        ProgramFailedException failed = assertInstanceOf(ProgramFailedException.class, callers.remove(2).result());
        assertEquals("A request is bad", Objects.requireNonNull(failed.getCause()).getMessage());
        assertEquals(1, failed.getSuppressed().length, "that of the batch");
        for (Caller caller : callers) {
            caller.assertAnswered();
        }
        assertEquals(List.of(1L, 4L, 1L, 1L, 1L, 1L), rows);
        assertEquals(new RequestBatcher.Counts(5, 6, 1), batcher.counts());
    }

    /** The limit of one run at a time also applies to requests that are run again alone. */
    @Test
    void membersOfABatchThatFailedTakeTurns() throws InterruptedException {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger together = new AtomicInteger();
        CountDownLatch joined = new CountDownLatch(1);
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch on = new CountDownLatch(1);
        Probes.on("run", x -> {
            rows.add(x.shape().dim(0));
            if (rows.size() == 1) {
                go.await();
            } else if (x.shape().dim(0) > 1) {
                joined.countDown();
                throw new IllegalStateException("A batch is bad");
            } else {
                together.accumulateAndGet(inside.incrementAndGet(), Math::max);
                first.countDown();
                on.await();
                inside.decrementAndGet();
            }
        });
        RequestBatcher batcher = RequestBatcher.of(plan(-1, 2), 8, 1);
        Tensor[] nine = new Tensor[9];
        for (int i = 0; i < nine.length; i++) {
            nine[i] = request(i, 1);
        }
        List<Caller> callers = callers(batcher, nine);
        go.countDown();
        joined.await();
        first.await();
        try {
            // One of them runs; the others wait or run concurrently.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (callers.stream().filter(caller -> batcher.equals(LockSupport.getBlocker(caller.thread)))
                    .count() < 7) {
                assertEquals(1, together.get(), "runs at the same time");
                assertTrue(System.nanoTime() < end, "They should wait");
                Thread.onSpinWait();
            }
        } finally {
            on.countDown();
        }
        for (Caller caller : callers) {
            caller.assertAnswered();
        }
        assertEquals(1, together.get(), "runs at the same time");
        assertEquals(List.of(1L, 8L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L), rows);
    }

    /**
     * The thread that executes a batch of one or several requests fails with an error before the run starts. The next
     * waiting thread must then execute a batch.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aThreadThatFailsHandsItsTurnOver(int members) throws InterruptedException {
        AtomicInteger failing = new AtomicInteger();
        OpenRuns runs = new OpenRuns() {
            @Override
            public Inside begin() {
                if (failing.getAndUpdate(left -> Math.max(0, left - 1)) == 1) {
                    throw new OutOfMemoryError("planted");
                }
                return super.begin();
            }
        };
        try (Executor own = Executor.builder().openRuns(runs).build()) {
            own.scope().set("w", Bits.floats(2, 3));
            RequestBatcher batcher = RequestBatcher.of(own.compile(plan(-1, 2).program(), feeds("x"), fetches("y")), 4,
                    1);
            Tensor[] requests = new Tensor[members + 1];
            for (int i = 0; i < requests.length; i++) {
                requests[i] = request(i, 1);
            }
            List<Caller> callers = callers(batcher, requests);
            failing.set(1);
            go.countDown();
            int failed = 0;
            for (Caller caller : callers) {
                failed += caller.result() instanceof OutOfMemoryError ? 1 : 0;
            }
            assertEquals(1, failed);
            new Caller(batcher, request(9, 1)).assertAnswered();
        }
    }

    @Test
    void whoWaitsCanBeInterrupted() throws InterruptedException {
        RequestBatcher batcher = RequestBatcher.of(plan(-1, 2), 4, 1);
        List<Caller> callers = callers(batcher, request(0, 1), request(1, 1), request(2, 1), request(3, 1));
        Caller impatient = callers.remove(1);
        impatient.thread.interrupt();
        ProgramFailedException failed = assertInstanceOf(ProgramFailedException.class, impatient.result());
        assertEquals("Interrupted while the request waited for its turn; it was not run", failed.getMessage());
        go.countDown();
        for (Caller caller : callers) {
            caller.assertAnswered();
        }
        assertEquals(List.of(1L, 2L), rows);
    }

    /** The interrupt does not affect other requests of the batch. */
    @Test
    void whoRunsABatchCanBeInterrupted() throws InterruptedException {
        RequestBatcher batcher = RequestBatcher.of(plan(-1, 2), 4, 1);
        AtomicReference<Caller> second = new AtomicReference<>();
        CountDownLatch there = new CountDownLatch(1);
        Probes.on("run", x -> {
            rows.add(x.shape().dim(0));
            if (rows.size() == 1) {
                go.await();
            } else if (rows.size() == 2) {
                there.await();
                second.get().thread.interrupt();
                new CountDownLatch(1).await();
            }
        });
        List<Caller> callers = callers(batcher, request(0, 1), request(1, 1), request(2, 1));
        second.set(callers.remove(1));
        there.countDown();
        go.countDown();
        assertInstanceOf(ProgramFailedException.class, second.get().result());
        for (Caller caller : callers) {
            caller.assertAnswered();
        }
        assertEquals(1, batcher.counts().failures());
    }

    @Test
    void isPreparedForEachSize() {
        go.countDown();
        RequestBatcher.of(plan(-1, 2), 8, 1).prepare(request(0, 1));
        assertEquals(List.of(1L, 2L, 4L, 8L), rows);
        rows.clear();
        RequestBatcher.of(plan(-1, 2), 12, 1).prepare(request(0, 3));
        assertEquals(List.of(3L, 6L, 12L), rows);
    }

    @Test
    void refusesWhatCannotBeJoined() {
        go.countDown();
        Plan plan = plan(-1, 2);
        assertThrows(IllegalArgumentException.class, () -> RequestBatcher.of(plan, 0));
        assertThrows(IllegalArgumentException.class, () -> RequestBatcher.of(plan, 1, 0));
        assertMessage(
                "Requests cannot be batched, because feed 'x' has no rows: its first dimension must be unknown (-1), "
                        + "but it is float32[1, 2]: export the model with an open number of rows",
                plan(1, 2));
        Network training = Network.define(1, g -> {
            Value loss = g.linear(g.data("x", FLOAT32, -1, 2), 1).square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        String loss = training.outputs().get("loss").name();
        assertMessage("Requests cannot be batched, because the plan changes variables of the scope",
                executor.compile(training.main(), feeds("x"), fetches(loss)));
        assertMessage("Requests cannot be batched, because fetch '" + loss + "' has no rows",
                executor.compile(training.main().copyForTest(), feeds("x"), fetches(loss)));
        RequestBatcher batcher = RequestBatcher.of(plan, 4);
        assertThrows(IllegalArgumentException.class, () -> batcher.run());
        assertThrows(IllegalArgumentException.class, () -> batcher.run(Tensor.of(new float[]{1}).reshape()));
    }

    private static void assertMessage(String beginning, Plan plan) {
        String message = String
                .valueOf(assertThrows(IllegalArgumentException.class, () -> RequestBatcher.of(plan, 4)).getMessage());
        assertTrue(message.startsWith(beginning), message);
    }

    /** A program declares rows, but its result has none. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void refusesResultsWithoutRows(boolean joined) throws InterruptedException {
        Network network = Network.define(1, g -> Outputs.of("y", g.data("x", FLOAT32, -1, 2).reshape(-1)));
        String y = network.outputs().get("y").name();
        RequestBatcher batcher = RequestBatcher.of(executor.compile(network.main(), feeds("x"), fetches(y)), 4, 1);
        IllegalStateException e = assertThrows(IllegalStateException.class,
                () -> (joined ? batcher.prepare(request(0, 1)).counts() : batcher.run(request(0, 2))).toString());
        String message = String.valueOf(e.getMessage());
        assertTrue(message.startsWith("Requests cannot be batched: fetch '" + y + "' must have a row for each"),
                message);
    }

    /** Asserts that each of several threads with requests of different sizes gets its own rows. */
    private static void assertOwnRows(Function<Tensor, Tensor> service, boolean isVirtual) throws InterruptedException {
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            int number = t;
            threads.add((isVirtual ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> {
                Random random = new Random(SEED + number);
                try {
                    for (int i = 0; i < 200; i++) {
                        Tensor x = request(random.nextLong(), 1 + random.nextInt(3));
                        float[] expected = x.toFloatArray();
                        for (int k = 0; k < expected.length; k++) {
                            expected[k] *= k % 2 == 0 ? 2 : 3;
                        }
                        assertArrayEquals(expected, service.apply(x).toFloatArray(),
                                "thread " + number + ", request " + i + ", seed " + SEED);
                    }
                } catch (RuntimeException | Error e) {
                    thrown.add(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!thrown.isEmpty()) {
            throw new AssertionError(thrown.size() + " threads failed", thrown.getFirst());
        }
    }

    @ParameterizedTest
    @CsvSource({"1,false", "2,false", "3,true", "1,true"})
    void eachGetsItsOwnRows(int runs, boolean isVirtual) throws InterruptedException {
        go.countDown();
        RequestBatcher batcher = RequestBatcher.of(plan(-1, 2), 8, runs);
        assertOwnRows(x -> batcher.run(x).get("y"), isVirtual);
        RequestBatcher.Counts counts = batcher.counts();
        assertEquals(1600, counts.requests());
        assertEquals(0, counts.failures());
        assertEquals(rows.size(), counts.runs());
    }

    /** Injects a bug: each request gets the rows of the previous one. */
    @Test
    void aPlantedMixUpIsFound() {
        go.countDown();
        RequestBatcher batcher = RequestBatcher.of(plan(-1, 2), 8, 1);
        AtomicReference<@Nullable Tensor> last = new AtomicReference<>();
        AssertionError found = assertThrows(AssertionError.class, () -> assertOwnRows(x -> {
            Tensor y = batcher.run(x).get("y");
            Tensor before = last.getAndSet(y);
            return before == null ? y : before;
        }, false));
        assertEquals("8 threads failed", found.getMessage());
    }
}

package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs one plan on many threads at once. Barriers within the runs prove that they overlap; no time is measured. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ConcurrentRunsTest {
    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    /** Runs an action on several threads and waits for all of them. An exception of one fails the test. */
    private static void onThreads(int count, IntConsumer work) throws InterruptedException {
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < count; t++) {
            int number = t;
            threads.add(Thread.ofPlatform().name("caller " + t).start(() -> {
                try {
                    work.accept(number);
                } catch (RuntimeException | Error e) {
                    thrown.add(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!thrown.isEmpty()) {
            AssertionError error = new AssertionError(
                    thrown.size() + " of " + count + " threads failed: " + thrown.getFirst(),
                    thrown.getFirst());
            thrown.stream().skip(1).forEach(error::addSuppressed);
            throw error;
        }
    }

    @ParameterizedTest
    @CsvSource({"1,8", "3,8", "3,2"})
    void eightThreadsGetWhatOneGets(int threads, int specialisations) throws InterruptedException {
        Network network = Network.define(1, g -> {
            Value x = g.data("x", FLOAT32, -1, 6);
            Value rows = g.data("rows", INT64, 1);
            Value h = g.linear(x, 24).tanh();
            Value grown = g.whileLoop(v -> List.of(v.getFirst().lessThan(rows)),
                    v -> List.of(v.getFirst().plus(1), v.get(1).times(0.5).plus(h)), g.full(INT64, 0, 1), h.times(1))
                    .get(1);
            return Outputs.of("y", g.linear(grown, 4).softmax(-1), "mean", g.linear(h, 3).mean(0));
        });
        String y = network.outputs().get("y").name();
        String mean = network.outputs().get("mean").name();
        try (Executor executor = Executor.builder().threads(threads).eager().specialisations(specialisations).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x", "rows"), fetches(y, mean));
            List<Results> expected = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                expected.add(plan.run(Bits.normal(i, 1 + i % 5, 6), Bits.longs(i % 4)));
            }
            onThreads(8, thread -> {
                for (int run = 0; run < 60; run++) {
                    int i = (5 * thread + run) % 12;
                    Results results = plan.run(Bits.normal(i, 1 + i % 5, 6), Bits.longs(i % 4));
                    String where = "thread " + thread + ", run " + run + ", feed " + i;
                    Bits.assertSame(expected.get(i).get(y), results.get(y), where + ", y");
                    Bits.assertSame(expected.get(i).get(mean), results.get(mean), where + ", mean");
                }
            });
        }
    }

    /** Returns a program that computes count += x in place, and fetches a later read of count. */
    private static Program counting() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT64, 1)))
                .put(VarDesc.of("count", VarType.dense(FLOAT64, 1)).persistent())
                .put(VarDesc.of("before", VarType.dense(FLOAT64, 1)))
                .put(VarDesc.of("after", VarType.dense(FLOAT64, 1)))
                .add(OpDesc.of("assign").in("X", "count").out("Out", "before").build())
                .add(Probes.of(Probes.CALL, "count", "between"))
                .add(OpDesc.of("elementwise_add").in("X", "count").in("Y", "x").out("Out", "count").attr("axis", -1)
                        .build())
                .add(OpDesc.of("assign").in("X", "count").out("Out", "after").build());
        return program;
    }

    private static Tensor number(double value) {
        return Tensor.of(new double[]{value}, 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void runsThatWriteOneRootComeOneAfterTheOther(int threads) throws InterruptedException {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger together = new AtomicInteger();
        Probes.on("between", _ -> {
            if (inside.incrementAndGet() > 1) {
                together.incrementAndGet();
            }
            for (int i = 0; i < 200; i++) {
                Thread.onSpinWait();
            }
            inside.decrementAndGet();
        });
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            executor.scope().set("count", number(0));
            Plan plan = executor.compile(counting(), feeds("x"), fetches("before", "after"));
            onThreads(4, thread -> {
                for (int run = 0; run < 100; run++) {
                    Results results = plan.run(number(thread + 1));
                    assertEquals(thread + 1, results.scalar("after") - results.scalar("before"),
                            "no other run comes between");
                }
            });
            assertEquals(100 * (1 + 2 + 3 + 4), executor.scope().get("count").getDouble(0));
            assertEquals(0, together.get(), "runs that were in it together");
        }
    }

    @Test
    void trainingOnManyThreadsDoesAsManyStepsAsOnOne() throws InterruptedException {
        Network network = Network.define(2, g -> {
            Value loss = g.linear(g.data("x", FLOAT32, -1, 4), 1).square().mean();
            g.minimize(loss, Adam.of(0.01));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        // All steps are equal, so their order does not matter.
        Tensor x = Bits.normal(1, 3, 4);
        try (Executor serial = Executor.builder().build();
                Executor parallel = Executor.builder().threads(2).eager().build()) {
            serial.run(network.startup());
            Plan step = serial.compile(network.main(), feeds("x"), fetches(loss));
            for (int i = 0; i < 80; i++) {
                step.run(x);
            }
            parallel.run(network.startup());
            Plan shared = parallel.compile(network.main(), feeds("x"), fetches(loss));
            onThreads(4, _ -> {
                for (int i = 0; i < 20; i++) {
                    shared.run(x);
                }
            });
            serial.scope().names()
                    .forEach(name -> Bits.assertSame(serial.scope().get(name), parallel.scope().get(name), name));
        }
    }

    /** Runs of different programs on the same root scope exclude each other too. */
    @Test
    void runsOfTwoPlansOnOneRootDoNotMixEither() throws InterruptedException {
        try (Executor executor = Executor.builder().build()) {
            executor.scope().set("count", number(0));
            Plan one = executor.compile(counting(), feeds("x"), fetches("after"));
            Program more = counting();
            more.global().add(OpDesc.of("scale").in("X", "x").out("Out", "x").attr("scale", 1f).build());
            Plan other = executor.compile(more, feeds("x"), fetches("after"));
            CountDownLatch go = new CountDownLatch(1);
            CountDownLatch in = new CountDownLatch(1);
            AtomicInteger inside = new AtomicInteger();
            Probes.on("between", _ -> {
                inside.incrementAndGet();
                in.countDown();
                go.await();
            });
            Thread first = Thread.ofPlatform().start(() -> one.run(number(1)));
            in.await();
            Thread second = Thread.ofPlatform().start(() -> other.run(number(10)));
            awaitBlocked(second);
            int together = inside.get();
            go.countDown();
            first.join();
            second.join();
            assertEquals(1, together, "runs that were in it together");
            assertEquals(11, executor.scope().get("count").getDouble(0));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void runsOnDifferentRootsOverlap(int threads) throws InterruptedException {
        Meeting meeting = new Meeting(3);
        Probes.on("between", _ -> meeting.await());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(counting(), feeds("x"), fetches("after"));
            onThreads(3, thread -> {
                Scope root = new Scope().set("count", number(100 * thread));
                for (int run = 1; run <= 5; run++) {
                    assertEquals(100 * thread + run, plan.run(root, number(1)).scalar("after"));
                }
            });
            assertEquals(5, meeting.held());
        }
    }

    /** Loops, branches and operations with dynamic shapes read the variables of their own root scope. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void runsOnDifferentRootsDoNotMix(int threads) throws InterruptedException {
        Network network = Network.define(2, g -> {
            Value x = g.data("x", FLOAT32, -1, 4);
            Value w = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 4, 4);
            Value count = g.data("count", INT64, 1);
            Value list = g.op("write_to_array").in("X", x.matmul(w)).in("I", g.full(INT64, 0, 1)).one("Out");
            g.whileLoop(v -> List.of(v.getFirst().lessThan(count)), v -> {
                Value before = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
                Value next = v.getFirst().plus(1);
                Value h = g.ifElse(before.sum().greaterThan(0), () -> before.matmul(w).tanh(),
                        () -> before.times(0.5).plus(w.mean()));
                g.op("write_to_array").in("X", h).in("I", next).to("Out", list).append();
                return List.of(next);
            }, g.full(INT64, 0, 1));
            return Outputs.of("y", g.op("read_from_array").in("X", list).in("I", count).one("Out"));
        });
        String y = network.outputs().get("y").name();
        String w = network.main().persistables().getFirst().name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds("x", "count"), fetches(y));
            List<Scope> roots = new ArrayList<>();
            List<Tensor> expected = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                roots.add(new Scope().set(w, Bits.normal(i, 4, 4)));
                expected.add(plan.run(roots.get(i), Bits.normal(9, 2, 4), Bits.longs(3)).get(y));
            }
            onThreads(4, thread -> {
                for (int run = 0; run < 40; run++) {
                    Tensor found = plan.run(roots.get(thread), Bits.normal(9, 2, 4), Bits.longs(3)).get(y);
                    Bits.assertSame(expected.get(thread), found, "root " + thread + ", run " + run);
                }
            });
            for (int i = 0; i < 4; i++) {
                Bits.assertSame(Bits.normal(i, 4, 4), roots.get(i).get(w), "w of root " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void runsThatOnlyReadOneRootOverlap(int threads) throws InterruptedException {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, 1)))
                .put(VarDesc.of("w", VarType.dense(FLOAT32, 1)).persistent())
                .put(VarDesc.of("y", VarType.dense(FLOAT32, 1)))
                .add(OpDesc.of("elementwise_mul").in("X", "x").in("Y", "w").out("Out", "y").attr("axis", -1).build())
                .add(Probes.of(Probes.CALL, "y", "read"));
        Meeting meeting = new Meeting(4);
        Probes.on("read", _ -> meeting.await());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            executor.scope().set("w", Bits.floats(3));
            Plan plan = executor.compile(program, feeds("x"), fetches("y"));
            onThreads(4, thread -> {
                for (int run = 0; run < 5; run++) {
                    assertEquals(3 * (10 * thread + run), plan.run(Bits.floats(10 * thread + run)).scalar("y"));
                }
            });
            assertEquals(5, meeting.held());
        }
    }

    /** Runs that write execute in the order in which they were called. */
    @Test
    void writersComeInTheOrderOfTheirCalls() throws InterruptedException {
        try (Executor executor = Executor.builder().build()) {
            executor.scope().set("count", number(0));
            Plan plan = executor.compile(counting(), feeds("x"), fetches("before"));
            CountDownLatch go = new CountDownLatch(1);
            CountDownLatch in = new CountDownLatch(1);
            Probes.on("between", _ -> {
                in.countDown();
                go.await();
            });
            List<Thread> callers = new ArrayList<>();
            List<Double> seen = Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < 4; i++) {
                double own = Math.scalb(1.0, i);
                Thread caller = Thread.ofPlatform().start(() -> seen.add(plan.run(number(own)).scalar("before")));
                callers.add(caller);
                in.await();
                awaitBlocked(caller);
            }
            go.countDown();
            for (Thread caller : callers) {
                caller.join();
            }
            Collections.sort(seen);
            assertEquals(List.of(0.0, 1.0, 3.0, 7.0), seen);
        }
    }

    /** Waits until a thread blocks, at the head of the queue or in it. */
    private static void awaitBlocked(Thread thread) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.BLOCKED
                && thread.getState() != Thread.State.TIMED_WAITING) {
            assertTrue(thread.isAlive() && System.nanoTime() < end,
                    () -> "It should wait, but is " + thread.getState());
            Thread.onSpinWait();
        }
    }

    @Test
    void aRunThatWaitsForAnotherCanBeInterrupted() throws InterruptedException {
        try (Executor executor = Executor.builder().build()) {
            executor.scope().set("count", number(0));
            Plan plan = executor.compile(counting(), feeds("x"), fetches("after"));
            CountDownLatch go = new CountDownLatch(1);
            CountDownLatch in = new CountDownLatch(1);
            Probes.on("between", _ -> {
                in.countDown();
                go.await();
            });
            Thread first = Thread.ofPlatform().start(() -> plan.run(number(1)));
            in.await();
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            AtomicInteger kept = new AtomicInteger();
            Thread second = Thread.ofPlatform().start(() -> {
                try {
                    plan.run(number(10));
                } catch (RuntimeException | Error e) {
                    thrown.set(e);
                    kept.set(Thread.currentThread().isInterrupted() ? 1 : 0);
                }
            });
            awaitBlocked(second);
            second.interrupt();
            boolean ended = second.join(Duration.ofSeconds(10));
            go.countDown();
            first.join();
            second.join();
            assertTrue(ended, "it went on waiting");
            RuntimeException failure = assertInstanceOf(RuntimeException.class, thrown.get());
            assertTrue(String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains("interrupt"),
                    failure.getMessage());
            assertEquals(1, kept.get(), "the thread is still interrupted");
            assertEquals(1, executor.scope().get("count").getDouble(0), "it has done nothing");
            Probes.allOff();
            assertEquals(3, plan.run(number(2)).scalar("after"), "the next run works");
        }
    }

    @Test
    void aFailureOfOneRunDoesNotTouchOthers() throws InterruptedException {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("y", VarType.dense(FLOAT32, -1)))
                .add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 2f).build())
                .add(Probes.of(Probes.CALL, "y", "odd"));
        Probes.on("odd", value -> {
            if (value.getDouble(0) < 0) {
                throw new IllegalStateException("negative");
            }
        });
        try (Executor executor = Executor.builder().threads(2).eager().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches("y"));
            AtomicInteger failures = new AtomicInteger();
            onThreads(4, thread -> {
                for (int run = 1; run <= 50; run++) {
                    double sign = (thread + run) % 2 == 0 ? 1 : -1;
                    try {
                        assertEquals(2 * run * sign, plan.run(Bits.floats(run * sign)).scalar("y"));
                        assertEquals(1, sign);
                    } catch (ProgramFailedException e) {
                        assertEquals(-1, sign);
                        failures.incrementAndGet();
                    }
                }
            });
            assertEquals(100, failures.get());
        }
    }

    @Test
    void oneExecutorIsForManyThreads() throws InterruptedException {
        try (Executor executor = Executor.builder().cachedPlans(2).build()) {
            onThreads(6, thread -> {
                for (int run = 0; run < 40; run++) {
                    float by = 1 + (thread + run) % 3;
                    Program program = new Program();
                    program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                            .put(VarDesc.of("y", VarType.dense(FLOAT32, -1)))
                            .add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", by).build());
                    assertEquals(by * run,
                            executor.run(program, Map.of("x", Bits.floats(run)), fetches("y")).scalar("y"));
                }
            });
        }
    }
}

package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Graphs of prepared operations: a push has the result of pushes of its operations. */
@EveryEngine
class PrepareAllTest extends EngineContract {
    private static final int VARS = 6;

    /**
     * A random program of graphs and single operations. The same seed gives the same program on every engine, so that
     * values, versions and failures can be compared with those of the naive engine, which pushes one by one.
     */
    private static final class Program {
        private final Engine engine;
        private final SplittableRandom random;
        private final int failing;
        private final long[] values = new long[VARS];
        private final Var[] vars;
        private final AtomicIntegerArray users = new AtomicIntegerArray(VARS);
        private final StringBuilder found = new StringBuilder();
        private final ConcurrentLinkedQueue<String> clashes = new ConcurrentLinkedQueue<>();

        Program(Engine engine, long seed, int failing) {
            this.engine = engine;
            this.failing = failing;
            random = new SplittableRandom(seed);
            vars = TestSupport.vars(engine, VARS);
        }

        private PreparedOp operation(int number) {
            int[] order = random.ints(0, VARS).distinct().limit(VARS).toArray();
            int reads = random.nextInt(4);
            int mutates = reads + random.nextInt(3);
            int overwrites = mutates + (random.nextInt(6) == 0 ? 1 : 0);
            OpBuilder op = engine.op("op" + number);
            for (int i = 0; i < overwrites; i++) {
                Var v = vars[order[i]];
                if (i < reads) {
                    op.reads(v);
                } else if (i < mutates) {
                    op.mutates(v);
                } else {
                    op.overwrites(v);
                }
            }
            if (random.nextInt(12) == 0) {
                op.evenIfFailed();
            }
            boolean fails = random.nextInt(100) < failing;
            long nanos = random.nextInt(4) == 0 ? 2_000 : 0;
            long add = random.nextLong();
            return op.prepare(() -> {
                long sum = add;
                for (int i = 0; i < overwrites; i++) {
                    sum = 31 * sum + (i < mutates ? values[order[i]] : 0);
                    if (i >= reads && users.getAndIncrement(order[i]) != 0) {
                        clashes.add("two operations mutate variable " + order[i] + " at once");
                    }
                }
                TestSupport.spin(nanos);
                for (int i = reads; i < overwrites; i++) {
                    values[order[i]] = sum + i;
                    users.getAndDecrement(order[i]);
                }
                if (fails) {
                    throw new Planted("op" + number);
                }
            });
        }

        /** Runs the program; returns what can be observed of it. */
        String run(int size) throws InterruptedException {
            List<PreparedOp> ops = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                ops.add(operation(i));
            }
            PreparedOp[] graphs = new PreparedOp[2];
            for (int g = 0; g < graphs.length; g++) {
                List<PreparedOp> list = new ArrayList<>();
                int length = random.nextInt(3 * size);
                for (int i = 0; i < length; i++) {
                    list.add(ops.get(random.nextInt(size)));
                }
                if (g > 0 && random.nextBoolean()) {
                    list.add(length / 2, graphs[0]);
                }
                graphs[g] = engine.prepareAll("graph" + g, list);
            }
            for (int i = 0; i < 6; i++) {
                switch (random.nextInt(8)) {
                    case 0 -> ops.get(random.nextInt(size)).push();
                    case 1 -> engine.clearFailure(vars[random.nextInt(VARS)]);
                    case 2 -> graphs[0].push(random.nextInt(3));
                    case 3 -> engine.pushAll(List.of(ops.get(1), graphs[1], ops.get(0), graphs[0]));
                    default -> graphs[random.nextInt(2)].push();
                }
            }
            int failures = 0;
            try {
                engine.waitForAll();
            } catch (OperationFailedException e) {
                failures = 1 + e.getSuppressed().length;
            }
            found.append(clashes).append(Arrays.toString(values)).append(", failures ").append(failures);
            for (Var v : vars) {
                Throwable failure = engine.failure(v);
                found.append("\nversion ").append(v.version()).append(failure == null ? "" : ", " + failure);
            }
            for (PreparedOp graph : graphs) {
                graph.delete();
            }
            return found.toString();
        }
    }

    private void compare(Engine engine, long seed, int size, int failing) throws Exception {
        try (Engine serial = Engine.builder().naive().onUnhandled(t -> {
        }).build()) {
            String expected = new Program(serial, seed, failing).run(size);
            assertEquals(expected, new Program(engine, seed, failing).run(size), "seed " + seed);
        }
    }

    @Test
    void randomGraphsHaveTheSerialResult() throws Exception {
        Engine engine = open();
        for (long i = 0; i < TestSupport.scaled(3_000, 150); i++) {
            compare(engine, EngineUnderTest.SEED + i, 2 + (int) (i % 60), 0);
        }
    }

    @Test
    void randomGraphsFailAsTheirOperations() throws Exception {
        Engine engine = open();
        for (long i = 0; i < TestSupport.scaled(3_000, 150); i++) {
            compare(engine, EngineUnderTest.SEED - i, 2 + (int) (i % 40), 3);
        }
    }

    /** An operation that does not wait for one of several predecessors. */
    private static final class ForgetsOne extends Rules {
        @Override
        int[] predecessors(int[] indexes) {
            return indexes.length < 2 ? indexes : Arrays.copyOf(indexes, indexes.length - 1);
        }
    }

    @Test
    void aLostEdgeIsDetected() {
        Assumptions.assumeTrue(kind.hasWorkers());
        UnaryOperator<Engine.Builder> mutant = builder -> ((EngineBuilder) builder).rules(new ForgetsOne());
        assertThrows(AssertionError.class, () -> {
            Engine engine = open(mutant);
            for (long i = 0; i < 500; i++) {
                compare(engine, EngineUnderTest.SEED + i, 2 + (int) (i % 60), 0);
            }
        }, () -> "not detected with seed " + EngineUnderTest.SEED);
    }

    @Test
    void severalThreadsPushOneGraph() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        int[] counts = new int[1];
        AtomicInteger free = new AtomicInteger();
        List<PreparedOp> ops = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            ops.add(engine.op("counts").mutates(v).prepare(() -> counts[0]++));
            ops.add(engine.op("free").prepare(free::incrementAndGet));
        }
        PreparedOp graph = engine.prepareAll("graph", ops);
        List<Task> tasks = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            tasks.add(Task.start("pusher", () -> {
                for (int i = 0; i < 50; i++) {
                    graph.push();
                }
            }));
        }
        for (Task task : tasks) {
            task.join();
        }
        engine.waitForAll();
        assertEquals(3 * 50 * 40, counts[0]);
        assertEquals(3 * 50 * 40, free.get());
        assertEquals(3 * 50 * 40, v.version());
    }

    @Test
    void independentOperationsRunAtOnce() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers() && !kind.isSingle());
        Engine engine = open();
        for (int i = 0; i < 20; i++) {
            CountDownLatch both = new CountDownLatch(2);
            Body meets = () -> {
                both.countDown();
                TestSupport.await(both);
            };
            engine.prepareAll("graph", List.of(engine.op("a").prepare(meets), engine.op("b").prepare(meets))).push();
            engine.waitForAll();
        }
    }

    /** The worker that began a graph parks while another one runs its last operation. */
    @Test
    void aLongOperationOfAHelper() throws Exception {
        Assumptions.assumeTrue(kind == EngineUnderTest.POOLED_2 || kind == EngineUnderTest.POOLED_4);
        Engine engine = open();
        for (int i = 0; i < 5; i++) {
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            Thread[] first = new Thread[1];
            AtomicInteger ran = new AtomicInteger();
            Var v = engine.newVar("v");
            PreparedOp waits = engine.op("waits").prepare(() -> {
                first[0] = Thread.currentThread();
                entered.countDown();
                TestSupport.await(begun);
            });
            PreparedOp blocks = engine.op("blocks").mutates(v).prepare(() -> {
                begun.countDown();
                TestSupport.await(go);
            });
            PreparedOp last = engine.op("last").mutates(v).prepare(ran::incrementAndGet);
            engine.prepareAll("graph", List.of(waits, blocks, last)).push();
            TestSupport.await(entered);
            TestSupport.await(begun);
            TestSupport.untilParked(first[0]);
            engine.op("other").submit(ran::incrementAndGet).get();
            go.countDown();
            engine.waitForAll();
            assertEquals(2, ran.get());
        }
    }

    @Test
    void anOperationThatWaitsIsRefused() throws Exception {
        Engine engine = open();
        Assumptions.assumeTrue(kind.hasWorkers());
        Var v = engine.newVar("v");
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        List<Body> waits = List.of(() -> engine.waitToRead(v), () -> engine.waitToWrite(v), engine::waitForAll,
                () -> engine.op("inner").mutates(v).submit(TestSupport.nothing()).get());
        List<PreparedOp> ops = new ArrayList<>();
        for (Body wait : waits) {
            ops.add(engine.op("waits").reads(v)
                    .prepare(() -> thrown.add(assertThrows(IllegalStateException.class, wait::run))));
        }
        engine.prepareAll("graph", ops).push();
        engine.waitForAll();
        assertEquals(waits.size(), thrown.size());
        thrown.forEach(t -> TestSupport.assertMentions(t, "waits"));
    }

    @Test
    void operationsPush() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        StringBuilder order = new StringBuilder();
        PreparedOp first = engine.op("first").mutates(v).prepare(() -> {
            order.append('a');
            engine.op("inner").mutates(v).push(() -> order.append('c'));
        });
        PreparedOp second = engine.op("second").mutates(v).prepare(() -> order.append('b'));
        engine.prepareAll("graph", List.of(first, second)).push();
        engine.waitUntilIdle();
        assertEquals("abc", order.toString());
    }

    @Test
    void toTheEngineAGraphIsOneOperation() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Var v = engine.newVar("v");
        Var w = engine.newVar("w");
        PreparedOp blocks = engine.op("blocks").mutates(v).prepare(() -> {
            begun.countDown();
            TestSupport.await(go);
        });
        PreparedOp second = engine.op("second").reads(v).mutates(w).prepare(TestSupport.nothing());
        PreparedOp free = engine.op("free").prepare(TestSupport.nothing());
        engine.prepareAll("graph", List.of(blocks, free, free, second)).push();
        engine.op("behind").reads(w).push(TestSupport.nothing());
        TestSupport.await(begun);
        assertEquals(List.of("graph", "behind"), TestSupport.namesOf(engine.snapshot()));
        go.countDown();
        engine.waitForAll();
        assertEquals(2, engine.stats().pushed());
        assertEquals(2, engine.stats().completed());
        assertEquals(1, v.version());
        assertEquals(List.of(), TestSupport.namesOf(engine.snapshot()));
    }

    @Test
    void aRecorderSeesEachOperation() throws Exception {
        Engine engine = open();
        ConcurrentLinkedQueue<String> names = new ConcurrentLinkedQueue<>();
        PreparedOp a = engine.op("a").prepare(TestSupport.nothing());
        PreparedOp graph = engine.prepareAll("graph", List.of(a, a, engine.op("b").prepare(TestSupport.nothing())));
        engine.record(op -> names.add(op.name()));
        graph.push();
        engine.waitForAll();
        TestSupport.eventually(() -> names.size() == 3, names::toString);
        engine.record(null);
        graph.push();
        engine.waitForAll();
        assertEquals(List.of("a", "a", "b"), names.stream().sorted().toList());
    }

    @Test
    void whatAGraphCannotHoldIsPushedOneByOne() throws Exception {
        Engine engine = open();
        AtomicInteger ran = new AtomicInteger();
        Body counts = ran::incrementAndGet;
        PreparedOp plain = engine.op("plain").prepare(counts);
        List<PreparedOp> others = List.of(engine.op("async").kind(OpKind.ASYNC).prepare(counts),
                engine.op("copy").kind(OpKind.COPY_IN).prepare(counts), engine.op("urgent").priority(1).prepare(counts),
                engine.op("elsewhere").on(Lane.of("sim:0")).prepare(counts), engine.op("later").prepareAsync(done -> {
                    counts.run();
                    done.complete();
                }));
        for (PreparedOp other : others) {
            PreparedOp graph = engine.prepareAll("graph", List.of(plain, other));
            graph.push();
            graph.push(2);
            graph.push(Lane.of("sim:1"), 1);
        }
        PreparedOp graph = engine.prepareAll("graph", List.of(plain, plain));
        graph.push(Lane.of("sim:1"), 1);
        graph.push(Lane.CPU, 1);
        engine.waitForAll();
        assertEquals(2 * (3 * others.size() + 2), ran.get());
        assertEquals(kind.hasWorkers() ? 2 * 3 * others.size() + 3 : ran.get(), engine.stats().pushed());
    }

    @Test
    void accessesAreChecked() throws Exception {
        Engine engine = open(builder -> builder.checked(true));
        Guarded<String> declared = Guarded.of(engine, "declared", "");
        Guarded<String> other = Guarded.of(engine, "other", "");
        PreparedOp good = engine.op("good").mutates(declared.var()).prepare(() -> declared.set("good"));
        PreparedOp bad = engine.op("bad").reads(declared.var()).prepare(() -> other.set(declared.get()));
        engine.prepareAll("graph", List.of(good, bad)).push();
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        assertEquals("bad", thrown.operation());
        TestSupport.assertMentions(Objects.requireNonNull(thrown.getCause()), "bad", "other");
        assertEquals("good", declared.get());
    }

    @Test
    void aShutdownCancelsTheRest() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        for (int i = 0; i < 10; i++) {
            Engine engine = open();
            CountDownLatch begun = new CountDownLatch(1);
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger late = new AtomicInteger();
            Var v = engine.newVar("v");
            Var deleted = engine.newVar("deleted");
            PreparedOp blocks = engine.op("blocks").mutates(v).reads(deleted).prepare(() -> {
                inside.incrementAndGet();
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } finally {
                    inside.decrementAndGet();
                }
            });
            PreparedOp free = engine.op("free").reads(deleted).prepare(TestSupport.nothing());
            PreparedOp never = engine.op("never").mutates(v).prepare(late::incrementAndGet);
            engine.prepareAll("graph", List.of(free, free, blocks, never, free)).push();
            engine.delete(deleted, () -> late.addAndGet(inside.get()));
            TestSupport.await(begun);
            engine.shutdownNow();
            engine.close();
            assertEquals(0, inside.get());
            assertEquals(0, late.get());
            assertEquals(1, engine.stats().cancelled());
            assertEquals(engine.stats().pushed(), engine.stats().completed());
        }
    }

    @Test
    void aGraphThatIsCancelledBeforeItRuns() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        CountDownLatch begun = new CountDownLatch(1);
        Var v = engine.newVar("v");
        engine.op("blocks").mutates(v).push(() -> {
            begun.countDown();
            new CountDownLatch(1).await();
        });
        AtomicInteger ran = new AtomicInteger();
        PreparedOp op = engine.op("op").mutates(v).prepare(ran::incrementAndGet);
        engine.prepareAll("graph", List.of(op, op)).push();
        TestSupport.await(begun);
        engine.shutdownNow();
        engine.close();
        assertEquals(0, ran.get());
        assertTrue(engine.failure(v) instanceof OperationFailedException);
    }

    @Test
    void badListsAndDeletedGraphs() throws Exception {
        Engine engine = open();
        Engine other = open();
        PreparedOp good = engine.op("good").prepare(TestSupport.nothing());
        PreparedOp deleted = engine.op("deleted").prepare(TestSupport.nothing());
        deleted.delete();
        PreparedOp foreign = other.prepareAll("foreign", List.of());
        assertThrows(NullPointerException.class, () -> engine.prepareAll(TestSupport.nil(), List.of()));
        assertThrows(NullPointerException.class, () -> engine.prepareAll("graph", TestSupport.nil()));
        TestSupport.assertThrowsMentioning(NullPointerException.class,
                () -> engine.prepareAll("graph", Arrays.asList(good, TestSupport.nil())), "operation");
        TestSupport.assertThrowsMentioning(IllegalArgumentException.class,
                () -> engine.prepareAll("graph", List.of(good, foreign)), "of engine");
        TestSupport.assertThrowsMentioning(IllegalStateException.class,
                () -> engine.prepareAll("graph", List.of(good, deleted)), "deleted");
        engine.prepareAll("empty", List.of()).push();
        PreparedOp graph = engine.prepareAll("graph", List.of(good, good));
        good.delete();
        graph.push();
        engine.waitForAll();
        graph.delete();
        graph.delete();
        TestSupport.assertThrowsMentioning(IllegalStateException.class, graph::push, "graph", "deleted");
        TestSupport.assertThrowsMentioning(IllegalStateException.class, () -> engine.pushAll(List.of(graph)), "graph",
                "deleted");
    }

    @Test
    void aDeletedVariable() throws Exception {
        Engine engine = open();
        Assumptions.assumeTrue(kind.hasWorkers());
        Var gone = engine.newVar("gone");
        AtomicInteger ran = new AtomicInteger();
        PreparedOp good = engine.op("good").prepare(ran::incrementAndGet);
        PreparedOp graph = engine.prepareAll("graph",
                List.of(good, engine.op("bad").reads(gone).prepare(ran::incrementAndGet)));
        engine.delete(gone);
        TestSupport.assertThrowsMentioning(IllegalStateException.class, graph::push, "gone", "deleted");
        engine.waitForAll();
        assertEquals(0, ran.get());
    }

    /** A hundred thousand operations in one graph, of which each waits for the one before. */
    @Test
    void aLongChain() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        int[] count = new int[1];
        PreparedOp op = engine.op("op").mutates(v).prepare(() -> count[0]++);
        PreparedOp graph = engine.prepareAll("chain", Collections.nCopies(100_000, op));
        graph.push();
        graph.push();
        engine.waitForAll();
        assertEquals(200_000, count[0]);
        assertEquals(200_000, v.version());
    }

    /** Operations that read one variable and mutate many; most edges follow from others. */
    @Test
    void manyVariables() throws Exception {
        Engine engine = open();
        Var[] vars = TestSupport.vars(engine, 200);
        int[] values = new int[200];
        List<PreparedOp> ops = new ArrayList<>();
        for (int step = 0; step < 3; step++) {
            for (int i = 0; i < 200; i++) {
                int at = i;
                ops.add(engine.op("all").mutates(vars[i]).prepare(() -> values[at]++));
            }
            ops.add(engine.op("sum").reads(vars).prepare(() -> {
                for (int value : values) {
                    assertEquals(values[0], value);
                }
            }));
        }
        PreparedOp graph = engine.prepareAll("graph", ops);
        graph.push();
        graph.push();
        engine.waitForAll();
        assertEquals(6, values[199]);
        assertNotEquals(0, values[0]);
        assertFalse(Arrays.stream(vars).anyMatch(v -> v.version() != 6));
    }
}

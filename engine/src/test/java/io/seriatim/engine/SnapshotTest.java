package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contents of a snapshot and its text. */
@EveryEngineWithWorkers
class SnapshotTest extends EngineContract {
    private static final Lane SIM = Lane.of("sim:9");

    private final CountDownLatch release = new CountDownLatch(1);

    private @Nullable Held held;

    private Engine busy() throws Exception {
        Engine engine = open();
        Var a = engine.newVar("aaa");
        Var b = engine.newVar("bbb");
        Var c = engine.newVar("ccc");
        held = Held.push(engine.op("started").mutates(a)).untilStarted();
        TestSupport.eventually(() -> engine.snapshot().operations().get(0).state() == EngineSnapshot.State.STARTED,
                () -> "its body should have returned: " + engine.snapshot());
        CountDownLatch running = new CountDownLatch(1);
        Lane copy = new Lane("sim:9", Lane.Queue.COPY);
        engine.op("running").reads(b).on(copy).push(() -> {
            running.countDown();
            TestSupport.await(release);
        });
        TestSupport.await(running);
        engine.op("ready").on(copy).push(TestSupport.nothing());
        engine.op("waits").reads(a).mutates(b).overwrites(c).on(SIM).priority(3).push(TestSupport.nothing());
        engine.op("last").reads(c).push(TestSupport.nothing());
        return engine;
    }

    private void finish(Engine engine) {
        release.countDown();
        Objects.requireNonNull(held).release();
        engine.close();
    }

    @Test
    void everyPendingOperationWithItsState() throws Exception {
        Engine engine = busy();
        EngineSnapshot snapshot = engine.snapshot();
        assertTrue(!snapshot.at().isAfter(Instant.now()));
        List<EngineSnapshot.PendingOp> ops = snapshot.operations();
        assertEquals(List.of("started", "running", "ready", "waits", "last"), TestSupport.namesOf(snapshot));
        assertEquals(
                List.of(EngineSnapshot.State.STARTED, EngineSnapshot.State.RUNNING, EngineSnapshot.State.READY,
                        EngineSnapshot.State.WAITING,
                        EngineSnapshot.State.WAITING),
                ops.stream().map(EngineSnapshot.PendingOp::state).toList());
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L), ops.stream().map(EngineSnapshot.PendingOp::order).toList());
        EngineSnapshot.PendingOp waits = ops.get(3);
        assertEquals(List.of("aaa"), waits.reads());
        assertEquals(List.of("bbb"), waits.mutates());
        assertEquals(List.of("ccc"), waits.overwrites());
        assertEquals(SIM, waits.lane());
        assertEquals(2, waits.waitsFor().size());
        assertTrue(waits.waitsFor().get(0).contains("aaa") && waits.waitsFor().get(0).contains("started"),
                waits::toString);
        assertTrue(waits.waitsFor().get(1).contains("bbb") && waits.waitsFor().get(1).contains("running"),
                waits::toString);
        assertTrue(ops.get(4).waitsFor().get(0).contains("waits"), ops::toString);
        assertEquals(List.of(), ops.get(0).waitsFor());
        finish(engine);
    }

    @Test
    void theDumpHasALineForEach() throws Exception {
        Engine engine = busy();
        EngineSnapshot snapshot = engine.snapshot();
        List<String> lines = snapshot.toString().lines().toList();
        assertEquals(1 + 5, lines.size());
        assertTrue(lines.get(0).contains(snapshot.engine()) && lines.get(0).contains("5"), lines::toString);
        for (EngineSnapshot.PendingOp op : snapshot.operations()) {
            String line = lines.get(1 + (int) op.order());
            for (String part : List.of(op.name(), op.state().name(), op.lane().toString(),
                    String.join(", ", op.mutates()),
                    String.join(", ", op.reads()), String.join(", ", op.overwrites()),
                    String.join(", ", op.waitsFor()))) {
                assertTrue(line.contains(part), () -> line + " should have " + part);
            }
        }
        finish(engine);
    }

    /**
     * Operations on one variable in push order, none of which ends: r reads, m mutates, o overwrites. Each is followed
     * by the operations that it waits for.
     */
    @ParameterizedTest
    @CsvSource(textBlock = """
            r1 r2,                        ;
            r1 m1,                        m1 ← r1
            r1 r2 m1,                     m1 ← r1+r2
            m1 r1,                        r1 ← m1
            m1 r1 r2,                     r1 ← m1; r2 ← m1
            m1 m2,                        m2 ← m1
            m1 o1 r1,                     o1 ← m1; r1 ← o1
            m1 m2 r1 r2 m3,               m2 ← m1; r1 ← m2; r2 ← m2; m3 ← r1+r2
            m1 r1 r2 m2 r3,               r1 ← m1; r2 ← m1; m2 ← r1+r2; r3 ← m2
            r1 r2 m1 r3 r4 o1 m2 r5,      m1 ← r1+r2; r3 ← m1; r4 ← m1; o1 ← r3+r4; m2 ← o1; r5 ← m2
            """)
    void whatOperationsOnOneVariableWaitFor(String pushed, String expected) throws Exception {
        Engine engine = open();
        TestSupport.coreOf(engine).sliceNanos = 0;
        Var v = engine.newVar("v");
        List<Held> all = new ArrayList<>();
        for (String name : pushed.split(" ", -1)) {
            OpBuilder op = engine.op(name);
            all.add(Held.push(switch (name.charAt(0)) {
                case 'r' -> op.reads(v);
                case 'm' -> op.mutates(v);
                default -> op.overwrites(v);
            }));
        }
        List<String> waits = engine.snapshot().operations().stream().flatMap(op -> op.waitsFor().stream()
                .map(before -> op.name() + " ← " + before.replace("v ← ", "").replace(", ", "+"))).toList();
        assertEquals(expected.equals(";") ? List.of() : List.of(expected.split("; ", -1)), waits);
        all.forEach(Held::release);
        engine.waitForAll();
    }

    @Test
    void whatAnOperationOnSeveralVariablesWaitsFor() throws Exception {
        Engine engine = open();
        Var[] v = TestSupport.vars(engine, 4);
        List<Held> all = new ArrayList<>();
        all.add(Held.push(engine.op("a").mutates(v[0])));
        all.add(Held.push(engine.op("b").reads(v[1])));
        all.add(Held.push(engine.op("c").reads(v[0], v[1])));
        all.add(Held.push(engine.op("d").reads(v[0], v[3]).mutates(v[1]).overwrites(v[2])));
        all.add(Held.push(engine.op("e").mutates(v[2], v[0], v[3])));
        List<List<String>> waits = engine.snapshot().operations().stream().map(EngineSnapshot.PendingOp::waitsFor)
                .toList();
        assertEquals(List.of(List.of(), List.of(), List.of("v0 ← a"), List.of("v0 ← a", "v1 ← b, c"),
                List.of("v2 ← d", "v0 ← c, d", "v3 ← d")), waits);
        all.forEach(Held::release);
        engine.waitForAll();
    }

    @Test
    void theThreadOfARunningOperation() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held before = Held.push(engine.op("before").mutates(v)).untilStarted();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        engine.op("waits inside").push(() -> {
            thread.complete(Thread.currentThread());
            engine.waitToRead(v);
        });
        TestSupport.untilParked(thread.get());
        EngineSnapshot.PendingOp op = engine.snapshot().operations().get(1);
        assertTrue(op.thread().startsWith("'" + thread.get().getName() + "' TIMED_WAITING at "), op::toString);
        assertTrue(op.thread().contains("SnapshotTest.java:"), op::toString);
        assertTrue(op.toString().contains(op.thread()), op::toString);
        assertEquals("", engine.snapshot().operations().get(0).thread());
        before.release();
    }

    /** A call in which a running operation waits is named; one that the engine does not know of is told apart. */
    @Test
    void theCallInWhichAnOperationWaits() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CompletableFuture<Void> future = engine.op("behind").mutates(v).submit(TestSupport.nothing());
        CountDownLatch latch = new CountDownLatch(1);
        assertNames(() -> engine.waitToRead(v), " in Engine.waitToRead", true);
        assertNames(() -> engine.await(CompletableFuture.allOf(future)), " in Engine.await", true);
        assertNames(future::get, " in CompletableFuture.get", true);
        assertNames(() -> future.thenRun(() -> {
        }).join(), " in CompletableFuture.join", true);
        assertNames(() -> Engine.blocking(() -> TestSupport.await(latch)), " in CountDownLatch.await", true);
        assertNames(() -> CompletableFuture.allOf(future).join(), " in CompletableFuture.join", false);
        assertNames(latch::await, " in CountDownLatch.await", false);
        held.release();
        latch.countDown();
        engine.waitForAll();
    }

    private void assertNames(Body wait, String call, boolean known) throws Exception {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        // An engine for each: it has no other worker for a wait that it does not know.
        Engine engine = open();
        engine.op("waiting").push(() -> {
            thread.complete(Thread.currentThread());
            wait.run();
        });
        TestSupport.untilParked(thread.get());
        String text = engine.snapshot().operations().get(0).thread();
        assertTrue(text.contains("WAITING at io.seriatim.engine.") && text.contains(call), text);
        assertEquals(known, !text.contains("not a wait of the engine"), text);
        assertEquals(known, !text.contains("Engine.await and Engine.blocking"), text);
    }

    /**
     * A class whose initialiser waits for an operation whose body is a lambda of the same class. The body cannot begin
     * before the class is initialised.
     */
    private static final class WaitsInItsInitialiser {
        static final EngineSnapshot.PendingOp SEEN;

        static {
            Engine engine = Objects.requireNonNull(OPENED.get());
            engine.op("lambda").push(() -> touch());
            TestSupport.eventually(() -> isBeforeItsFirstLine(engine), () -> "it cannot run: " + engine.snapshot());
            SEEN = engine.snapshot().operations().get(0);
        }

        private static boolean isBeforeItsFirstLine(Engine engine) {
            return engine.snapshot().operations().stream()
                    .anyMatch(op -> op.thread().contains(" before the first line of "));
        }

        private static void touch() {
            // The lambda cannot be called before the initialiser ends.
        }
    }

    private static final ThreadLocal<@Nullable Engine> OPENED = new ThreadLocal<>();

    @Test
    void aBodyWhoseClassIsBeingInitialised() throws Exception {
        Assumptions.assumeTrue(kind == EngineUnderTest.POOLED_2, "a class is initialised once");
        Engine engine = open();
        OPENED.set(engine);
        assertEquals("lambda", WaitsInItsInitialiser.SEEN.name());
        assertTrue(WaitsInItsInitialiser.SEEN.thread().contains(WaitsInItsInitialiser.class.getName()),
                WaitsInItsInitialiser.SEEN::toString);
        OPENED.remove();
        engine.waitForAll();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, EngineCore.SLICE_NANOS})
    void aSnapshotWhileOthersWork(long sliceNanos) throws Exception {
        Engine engine = open();
        TestSupport.coreOf(engine).sliceNanos = sliceNanos;
        Var gate = engine.newVar("gate");
        Held closed = Held.push(engine.op("closed").mutates(gate)).untilStarted();
        for (int i = 0; i < 200; i++) {
            engine.op("stays").reads(gate, engine.newVar()).push(TestSupport.nothing());
        }
        Var[] v = TestSupport.vars(engine, 8);
        Task pusher = Task.start("pusher", () -> {
            for (int i = 0; i < 5_000; i++) {
                engine.op("op").reads(v[i % 8]).mutates(v[(i * 5 + 3) % 8]).push(TestSupport.nothing());
            }
        });
        while (!pusher.isDone()) {
            EngineSnapshot snapshot = engine.snapshot();
            List<Long> orders = snapshot.operations().stream().map(EngineSnapshot.PendingOp::order).toList();
            assertEquals(orders.stream().sorted().distinct().toList(), orders, "in push order, each once");
            assertEquals(LongStream.rangeClosed(0, 200).boxed().toList(), orders.stream().limit(201).toList(),
                    "none that stays is missing");
        }
        pusher.join();
        closed.release();
        engine.waitForAll();
        assertEquals(List.of(), engine.snapshot().operations());
    }

    /**
     * Other threads make progress while a snapshot of many operations is taken. Blocking them during the whole snapshot
     * would take hundreds of milliseconds. Delays caused by the machine must not fail the test, so one successful
     * attempt of many is enough.
     */
    @Test
    void aSnapshotHoldsNobodyUpForLong() throws Exception {
        Assumptions.assumeTrue(kind == EngineUnderTest.POOLED_2);
        int pending = (int) TestSupport.scaled(60_000, 20_000);
        long most = TestSupport.scaled(5_000_000, 25_000_000);
        Engine engine = open();
        Var gate = engine.newVar("gate");
        Held closed = Held.push(engine.op("closed").mutates(gate)).untilStarted();
        for (int i = 0; i < pending; i++) {
            engine.op("waits").reads(gate).mutates(engine.newVar()).push(TestSupport.nothing());
        }
        long best = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 50 && best >= most; attempt++) {
            AtomicBoolean taken = new AtomicBoolean();
            CountDownLatch looks = new CountDownLatch(1);
            AtomicLong worst = new AtomicLong(Long.MAX_VALUE);
            Task other = Task.start("other", () -> {
                long longest = 0;
                int whole = 0;
                while (!taken.get()) {
                    long began = System.nanoTime();
                    engine.stats();
                    longest = Math.max(longest, System.nanoTime() - began);
                    whole += taken.get() ? 0 : 1;
                    looks.countDown();
                    LockSupport.parkNanos(20_000);
                }
                worst.set(whole > 2 ? longest : Long.MAX_VALUE);
            });
            TestSupport.await(looks);
            assertEquals(pending + 1, engine.snapshot().operations().size());
            taken.set(true);
            other.join();
            best = Math.min(best, worst.get());
        }
        long found = best;
        assertTrue(found < most, () -> "others waited for at least " + found / 1_000 + " µs");
        closed.release();
    }

    @Test
    void statsCount() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        assertEquals(new EngineStats(0, 0, 0, 0, 0, 0), engine.stats());
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        engine.op("behind").mutates(v).push(TestSupport.nothing());
        EngineStats stats = engine.stats();
        assertEquals(2, stats.pushed());
        assertEquals(2, stats.pending());
        assertTrue(stats.workers() >= 1);
        held.fail(new Planted("planted"));
        engine.waitToWrite(v);
        EngineStats after = engine.stats();
        assertEquals(List.of(2L, 2L, 1L, 1L, 0L),
                List.of(after.pushed(), after.completed(), after.failed(), after.skipped(), after.cancelled()));
    }
}

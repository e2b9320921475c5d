package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a snapshot shows, and how it reads. */
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
        assertTrue(waits.waitsFor().get(0).contains("aaa") && waits.waitsFor().get(0).contains("started"), waits::toString);
        assertTrue(waits.waitsFor().get(1).contains("bbb") && waits.waitsFor().get(1).contains("running"), waits::toString);
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
            for (String part : List.of(op.name(), op.state().name(), op.lane().toString(), String.join(", ", op.mutates()),
                    String.join(", ", op.reads()), String.join(", ", op.overwrites()), String.join(", ", op.waitsFor()))) {
                assertTrue(line.contains(part), () -> line + " should have " + part);
            }
        }
        finish(engine);
    }

    @Test
    void readersThatWaitBehindOneWriter() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held writer = Held.push(engine.op("writer").mutates(v)).untilStarted();
        for (int i = 0; i < 3; i++) {
            engine.op("reader" + i).reads(v).push(TestSupport.nothing());
        }
        engine.op("second writer").mutates(v).push(TestSupport.nothing());
        EngineSnapshot snapshot = engine.snapshot();
        assertEquals(List.of("writer", "reader0", "reader1", "reader2", "second writer"), TestSupport.namesOf(snapshot));
        for (EngineSnapshot.PendingOp op : snapshot.operations().subList(1, 5)) {
            assertEquals(1, op.waitsFor().size(), op::toString);
        }
        writer.release();
    }

    @Test
    void aSnapshotWhileOthersWork() throws Exception {
        Engine engine = open();
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
        }
        pusher.join();
        engine.waitForAll();
        assertEquals(List.of(), engine.snapshot().operations());
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

package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Waits by threads outside operations, while other operations are kept open. */
@EveryEngineWithWorkers
class WaitTest extends EngineContract {
    private static final Duration LOOK = Duration.ZERO;
    private static final Duration LONG = Duration.ofSeconds(10);

    private static void assertPending(Executable look) {
        assertThrows(TimeoutException.class, look);
    }

    @Test
    void aFreshVariableIsNotWaitedFor() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.waitToRead(v);
        engine.waitToWrite(v);
        engine.waitToRead(v, LOOK);
        engine.waitToWrite(v, LOOK);
        engine.waitForAll();
        engine.waitForAll(LOOK);
    }

    @Test
    void aRunningWriterHoldsUpBothWaits() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held writer = Held.push(engine.op("writer").mutates(v)).untilStarted();
        assertPending(() -> engine.waitToRead(v, LOOK));
        assertPending(() -> engine.waitToWrite(v, LOOK));
        assertPending(() -> engine.waitForAll(LOOK));
        assertPending(() -> engine.waitToRead(v, Duration.ofMillis(1)));
        Task read = Task.start("read", () -> engine.waitToRead(v));
        Task write = Task.start("write", () -> engine.waitToWrite(v, LONG));
        Task all = Task.start("all", () -> engine.waitForAll());
        for (Task task : List.of(read, write, all)) {
            TestSupport.untilParked(task.thread);
            assertFalse(task.isDone());
        }
        writer.release();
        read.join();
        write.join();
        all.join();
    }

    @Test
    void aRunningReaderHoldsUpOnlyTheWaitToWrite() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held reader = Held.push(engine.op("reader").reads(v)).untilStarted();
        engine.waitToRead(v);
        assertPending(() -> engine.waitToWrite(v, LOOK));
        assertPending(() -> engine.waitForAll(LOOK));
        Task write = Task.start("write", () -> engine.waitToWrite(v));
        TestSupport.untilParked(write.thread);
        engine.waitToRead(v, LONG);
        reader.release();
        write.join();
    }

    @Test
    void aWaitToReadLooksPastReadersToTheWriterThatWaitsForThem() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held reader = Held.push(engine.op("reader").reads(v)).untilStarted();
        AtomicInteger written = new AtomicInteger();
        engine.op("writer").mutates(v).push(written::incrementAndGet);
        assertPending(() -> engine.waitToRead(v, LOOK));
        reader.release();
        engine.waitToRead(v);
        assertEquals(1, written.get());
    }

    @Test
    void aWaitOnlyWaitsForWhatWasPushedBeforeIt() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var other = engine.newVar("other");
        Held first = Held.push(engine.op("first").mutates(v)).untilStarted();
        Task read = Task.start("read", () -> engine.waitToRead(v));
        Task write = Task.start("write", () -> engine.waitToWrite(v));
        Task all = Task.start("all", () -> engine.waitForAll());
        for (Task task : List.of(read, write, all)) {
            TestSupport.untilParked(task.thread);
        }
        Held second = Held.push(engine.op("second").mutates(v));
        Held third = Held.push(engine.op("third").mutates(other)).untilStarted();
        first.release();
        read.join();
        write.join();
        all.join();
        second.untilStarted();
        assertPending(() -> engine.waitToRead(v, LOOK));
        second.release();
        third.release();
    }

    @Test
    void aPendingWaitDoesNotHoldUpOperations() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held reader = Held.push(engine.op("reader").reads(v)).untilStarted();
        Task write = Task.start("write", () -> engine.waitToWrite(v));
        TestSupport.untilParked(write.thread);
        CompletableFuture<Void> late = engine.op("late reader").reads(v).submit(TestSupport.nothing());
        late.get(10, TimeUnit.SECONDS);
        assertFalse(write.isDone());
        reader.release();
        write.join();
    }

    @Test
    void laterPushesCannotStarveWaitForAll() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CountDownLatch stop = new CountDownLatch(1);
        CountDownLatch going = new CountDownLatch(10_000);
        Task pusher = Task.start("pusher", () -> {
            while (stop.getCount() > 0) {
                engine.op("more").mutates(v).push(going::countDown);
            }
        });
        TestSupport.await(going);
        for (int i = 0; i < 50; i++) {
            engine.waitForAll();
            engine.waitToRead(v);
            engine.waitToWrite(v);
        }
        stop.countDown();
        pusher.join();
    }

    @Test
    void waitsAreInterruptible() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held writer = Held.push(engine.op("writer").mutates(v)).untilStarted();
        CompletableFuture<Void> behind = engine.op("behind").reads(v).submit(TestSupport.nothing());
        List<Body> waits = List.of(() -> engine.waitToRead(v), () -> engine.waitToWrite(v), engine::waitForAll,
                () -> engine.waitToRead(v, LONG), () -> engine.waitToWrite(v, LONG), () -> engine.waitForAll(LONG),
                behind::get,
                () -> behind.get(60, TimeUnit.SECONDS));
        for (Body wait : waits) {
            Task waiting = Task.start("waiting", () -> assertThrows(InterruptedException.class, wait::run));
            TestSupport.untilParked(waiting.thread);
            waiting.thread.interrupt();
            waiting.join();
            Task before = Task.start("interrupted before", () -> {
                Thread.currentThread().interrupt();
                assertThrows(InterruptedException.class, wait::run);
                assertFalse(Thread.currentThread().isInterrupted(), "the exception takes the flag");
            });
            before.join();
        }
        writer.release();
        engine.waitToWrite(v);
    }

    @Test
    void aWaitThatWasGivenUpLeavesNoTrace() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger value = new AtomicInteger();
        List<Held> held = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            held.add(Held.push(engine.op("held" + i).mutates(v)));
            assertPending(() -> engine.waitToWrite(v, LOOK));
            assertPending(() -> engine.waitToRead(v, Duration.ofNanos(1)));
            engine.op("read").reads(v).push(TestSupport.nothing());
            assertPending(() -> engine.waitToWrite(v, Duration.ofNanos(1)));
            engine.op("read").reads(v).push(value::incrementAndGet);
        }
        assertEquals(15, engine.snapshot().operations().size(), "waits are no operations");
        held.forEach(Held::release);
        engine.waitToWrite(v);
        assertEquals(5, value.get());
    }

    @Test
    void aWaitingThreadRunsNoBodies() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        List<Thread> runners = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            engine.op("who").mutates(v).push(() -> runners.add(Thread.currentThread()));
            if (i % 50 == 0) {
                engine.waitToRead(v);
            }
        }
        engine.waitForAll();
        assertFalse(runners.contains(Thread.currentThread()));
        assertTrue(runners.stream().allMatch(Thread::isDaemon), "workers are daemons");
    }

    @Test
    void futuresAreWaitedForByGetAndJoin() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held writer = Held.push(engine.op("writer").mutates(v));
        CompletableFuture<String> future = engine.op("reader").reads(v).call(() -> "read");
        assertThrows(TimeoutException.class, () -> future.get(0, TimeUnit.NANOSECONDS));
        assertThrows(TimeoutException.class, () -> future.get(1, TimeUnit.MILLISECONDS));
        Task join = Task.start("join", () -> assertEquals("read", future.join()));
        TestSupport.untilParked(join.thread);
        join.thread.interrupt();
        writer.release();
        join.join();
        assertEquals("read", future.get());
        assertEquals("read", future.get(0, TimeUnit.NANOSECONDS));
    }
}

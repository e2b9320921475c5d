package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** At maxPending a push from outside an operation waits; a push from inside never does. */
@EveryEngineWithWorkers
class BackPressureTest extends EngineContract {
    private static final int MAX = 100;
    /** The tolerance of the limit. */
    private static final int SLACK = 16;
    private static final int MANY = 500;

    private final AtomicInteger pushed = new AtomicInteger();

    private Engine openSmall() {
        return open(builder -> builder.maxPending(MAX));
    }

    private Task startPusher(Engine engine, Var v) {
        return Task.start("pusher", () -> {
            for (int i = 0; i < MANY; i++) {
                engine.op("more").mutates(v).push(TestSupport.nothing());
                pushed.incrementAndGet();
            }
        });
    }

    private static void untilFull(Engine engine, Task pusher) {
        TestSupport.eventually(() -> engine.stats().pending() >= MAX - SLACK && isWaiting(pusher.thread),
                () -> "not full: " + engine.stats() + ", pusher " + pusher.thread.getState());
    }

    @Test
    void aPushFromOutsideWaitsAtTheLimit() throws Exception {
        Engine engine = openSmall();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        Task pusher = startPusher(engine, v);
        untilFull(engine, pusher);
        for (int i = 0; i < 1_000; i++) {
            long pending = engine.stats().pending();
            assertTrue(pending <= MAX + SLACK, () -> "pending " + pending);
            Thread.onSpinWait();
        }
        assertTrue(pushed.get() < MANY);
        held.release();
        pusher.join();
        engine.waitForAll();
        assertEquals(MANY + 1, v.version());
    }

    @Test
    void theLimitHoldsForManyPushersAndWhileOperationsRun() throws Exception {
        Engine engine = openSmall();
        Var v = engine.newVar("v");
        Task[] pushers = new Task[4];
        for (int i = 0; i < pushers.length; i++) {
            pushers[i] = startPusher(engine, v);
        }
        boolean over = false;
        while (!over) {
            over = true;
            for (Task pusher : pushers) {
                over &= pusher.isDone();
            }
            EngineStats stats = engine.stats();
            assertTrue(stats.pending() <= MAX + SLACK, stats::toString);
        }
        engine.waitForAll();
        assertEquals((long) MANY * pushers.length, v.version());
    }

    @Test
    void aLimitOfOneIsEnough() throws Exception {
        Engine engine = open(builder -> builder.maxPending(1));
        Var v = engine.newVar("v");
        for (int i = 0; i < 200; i++) {
            engine.op("one").mutates(v).push(TestSupport.nothing());
        }
        engine.waitForAll();
        assertEquals(200, v.version());
    }

    @Test
    void aPushFromInsideNeverWaits() throws Exception {
        Engine engine = openSmall();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CountDownLatch full = new CountDownLatch(1);
        CompletableFuture<Long> inside = engine.op("inside").call(() -> {
            TestSupport.await(full);
            for (int i = 0; i < MANY; i++) {
                engine.op("from inside").mutates(v).push(TestSupport.nothing());
            }
            return engine.stats().pending();
        });
        Task pusher = startPusher(engine, v);
        untilFull(engine, pusher);
        full.countDown();
        assertTrue(inside.get() >= MANY + MAX - SLACK);
        assertFalse(pusher.isDone());
        held.release();
        pusher.join();
        engine.waitForAll();
    }

    @Test
    void insideMeansInsideAnOperationOfAnyEngine() throws Exception {
        Engine engine = openSmall();
        Engine other = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        Task pusher = startPusher(engine, v);
        untilFull(engine, pusher);
        other.op("of another engine").submit(() -> {
            for (int i = 0; i < MANY; i++) {
                engine.op("from outside, inside").mutates(v).push(TestSupport.nothing());
            }
        }).get();
        held.release();
        pusher.join();
        engine.waitForAll();
        assertEquals(2 * MANY + 1, v.version());
    }

    @Test
    void aPushThatIsInterruptedKeepsWaitingAndKeepsTheFlag() throws Exception {
        Engine engine = openSmall();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        AtomicInteger flagged = new AtomicInteger();
        Task pusher = Task.start("pusher", () -> {
            for (int i = 0; i < MANY; i++) {
                engine.op("more").mutates(v).push(TestSupport.nothing());
                if (Thread.interrupted()) {
                    flagged.incrementAndGet();
                }
            }
        });
        untilFull(engine, pusher);
        pusher.thread.interrupt();
        TestSupport.untilParked(pusher.thread);
        assertFalse(pusher.isDone());
        held.release();
        pusher.join();
        assertEquals(1, flagged.get());
        engine.waitForAll();
        assertEquals(MANY + 1, v.version());
    }

    @Test
    void waitsAndCompletionsPassWhilePushersAreBlocked() throws Exception {
        Engine engine = openSmall();
        Var v = engine.newVar("v");
        Var other = engine.newVar("other");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        Task pusher = startPusher(engine, v);
        untilFull(engine, pusher);
        engine.waitToRead(other);
        engine.waitToWrite(other);
        assertTrue(engine.snapshot().operations().size() >= MAX - SLACK);
        held.release();
        pusher.join();
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }
}

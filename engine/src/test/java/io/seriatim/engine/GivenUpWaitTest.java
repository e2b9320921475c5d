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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** An abandoned wait leaves no objects behind, and does not mark failures as observed. */
@EveryEngineWithWorkers
class GivenUpWaitTest extends EngineContract {
    private static final int FEW = 100;
    private static final int MANY = (int) TestSupport.scaled(10_000, 1_000);
    /** The number of objects that caches of the JDK, or a late worker, may add. */
    private static final int SLACK = 50;
    /** More operations than a wait admits by itself. */
    private static final int BACKLOG = 3_000;
    private static final Duration SHORT = Duration.ofNanos(1);

    private static void assertLeavesNothing(Engine engine, Object[] also, Body poll) throws Exception {
        EngineCore core = TestSupport.coreOf(engine);
        long[] after = new long[2];
        for (int i = 0; i < FEW + MANY; i++) {
            poll.run();
            if (i + 1 == FEW) {
                after[0] = Reachable.count(core, also);
            }
        }
        after[1] = Reachable.count(core, also);
        assertTrue(after[1] - after[0] < SLACK, () -> MANY + " waits leave " + (after[1] - after[0]) + " objects");
    }

    private static void assertTimesOut(Executable wait) {
        assertThrows(TimeoutException.class, wait);
    }

    @Test
    void waitsOfEveryKind() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CompletableFuture<Void> future = engine.op("behind").reads(v).submit(TestSupport.nothing());
        assertLeavesNothing(engine, new Object[]{v, future}, () -> {
            assertTimesOut(() -> engine.waitForAll(SHORT));
            assertTimesOut(() -> engine.waitToRead(v, SHORT));
            assertTimesOut(() -> engine.waitToWrite(v, SHORT));
            assertTimesOut(() -> future.get(1, TimeUnit.NANOSECONDS));
        });
        held.release();
        future.get();
    }

    @Test
    void waitsForAllWithPushesBetween() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        assertLeavesNothing(engine, new Object[]{v}, () -> {
            engine.op("between").submit(TestSupport.nothing()).get();
            assertTimesOut(() -> engine.waitForAll(SHORT));
        });
        held.release();
    }

    @Test
    void waitsBehindABacklog() throws Exception {
        Assumptions.assumeTrue(kind.isSingle());
        Engine engine = open();
        Var v = engine.newVar("v");
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        engine.op("blocks").push(() -> {
            running.countDown();
            TestSupport.await(open);
        });
        TestSupport.await(running);
        for (int i = 0; i < BACKLOG; i++) {
            engine.op("behind").mutates(v).push(TestSupport.nothing());
        }
        assertLeavesNothing(engine, new Object[]{v}, () -> {
            assertTimesOut(() -> engine.waitForAll(Duration.ofNanos(100)));
            assertTimesOut(() -> engine.waitToRead(v, Duration.ofNanos(100)));
        });
        open.countDown();
        engine.waitForAll();
    }

    @Test
    void waitsUntilIdle() throws Exception {
        Engine engine = open();
        Held held = Held.push(engine.op("held")).untilStarted();
        assertLeavesNothing(engine, new Object[0], () -> assertTimesOut(() -> engine.waitUntilIdle(SHORT)));
        held.release();
        engine.waitUntilIdle();
    }

    @Test
    void closesThatAreInterrupted() throws Exception {
        Engine engine = open();
        Held held = Held.push(engine.op("held")).untilStarted();
        assertLeavesNothing(engine, new Object[0], () -> {
            Thread.currentThread().interrupt();
            assertFalse(engine.close(Duration.ofDays(1)));
            assertTrue(Thread.interrupted());
        });
        held.release();
    }

    @Test
    void aFailureThatOnlyATimedOutGetWaitedForIsUnhandled() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CompletableFuture<Void> future = engine.op("fails").mutates(v)
                .submit(TestSupport.failing(new Planted("planted")));
        CompletableFuture<Void> told = engine.op("told").mutates(engine.newVar("w"))
                .submit(TestSupport.failing(new Planted("told")));
        assertTimesOut(() -> future.get(1, TimeUnit.NANOSECONDS));
        assertThrows(ExecutionException.class, told::get);
        held.release();
        engine.close();
        assertEquals(List.of("fails"),
                unhandled(engine).stream().map(t -> ((OperationFailedException) t).operation()).toList());
    }

    @Test
    void aFailureThatACallbackIsToldIsNot() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CompletableFuture<Void> future = engine.op("fails").mutates(v)
                .submit(TestSupport.failing(new Planted("planted")));
        assertTimesOut(() -> future.get(1, TimeUnit.NANOSECONDS));
        CompletableFuture<Integer> handled = future.handle((nothing, t) -> t == null ? 0 : 1);
        held.release();
        assertEquals(1, handled.get());
        engine.close();
        assertEquals(List.of(), List.copyOf(unhandled(engine)));
    }

    /**
     * Waits begin at different times and some are abandoned: each of the others ends exactly when all operations before
     * it have ended.
     */
    @Test
    void othersThatWaitForAllAreNotDisturbed() throws Exception {
        Engine engine = open();
        List<Held> held = new ArrayList<>();
        List<Task> waits = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            held.add(Held.push(engine.op("held" + i)).untilStarted());
            assertTimesOut(() -> engine.waitForAll(SHORT));
            if (i % 2 == 0) {
                Task wait = Task.start("wait" + i, engine::waitForAll);
                TestSupport.untilParked(wait.thread);
                waits.add(wait);
            }
            assertTimesOut(() -> engine.waitForAll(SHORT));
        }
        for (int i : new int[]{1, 0}) {
            assertFalse(waits.get(0).isDone());
            held.get(i).release();
        }
        waits.get(0).join();
        held.get(2).release();
        waits.get(1).join();
        held.get(4).release();
        assertTimesOut(() -> engine.waitForAll(SHORT));
        assertFalse(waits.get(2).isDone());
        held.get(3).release();
        waits.get(2).join();
        held.get(5).release();
        engine.waitForAll();
    }
}

package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** close waits for all operations, in every state and from every thread, and leaves no threads behind. */
@EveryEngine
class CloseTest extends EngineContract {
    private final Planted planted = new Planted("planted");

    @Test
    void closeDrains() {
        Engine engine = open();
        Var v = engine.newVar("v");
        for (int i = 0; i < 5_000; i++) {
            engine.op("op").mutates(v).push(TestSupport.nothing());
        }
        engine.close();
        assertEquals(5_000, v.version());
        engine.close();
        assertTrue(engine.close(Duration.ZERO));
    }

    @Test
    void closeWaitsForWhatOperationsPush() {
        Engine engine = open();
        AtomicInteger ran = new AtomicInteger();
        engine.op("outer").push(() -> {
            for (int i = 0; i < 100; i++) {
                engine.op("inner").push(ran::incrementAndGet);
            }
        });
        engine.close();
        assertEquals(100, ran.get());
        assertEquals(101, engine.stats().completed());
    }

    /** A push by a running operation is accepted while the engine closes; one by any other thread is refused. */
    @Test
    void whileItClosesOnlyRunningOperationsPush() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Engine other = open();
        Var v = engine.newVar("v");
        Var w = engine.newVar("w");
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        List<String> order = new ArrayList<>();
        engine.op("outer").mutates(v).push(() -> {
            started.countDown();
            TestSupport.await(go);
            PreparedOp prepared = engine.op("prepared").mutates(w).prepare(() -> order.add("prepared"));
            engine.op("push").mutates(w).push(() -> order.add("push"));
            prepared.push();
            engine.op("async").mutates(w).pushAsync(done -> {
                order.add("async");
                done.complete();
            });
            engine.op("ASYNC").mutates(w).kind(OpKind.ASYNC).push(() -> {
                order.add("ASYNC");
                engine.op("of ASYNC").mutates(w).push(() -> order.add("of ASYNC"));
            });
            order.add(engine.op("call").mutates(w).call(() -> "call").get());
            engine.op("nested").mutates(w)
                    .push(() -> engine.op("innermost").mutates(w).push(() -> order.add("innermost")));
            engine.clearFailure(w);
            engine.delete(v, () -> order.add("deleted"));
        });
        TestSupport.await(started);
        Task closer = Task.start("closer", engine::close);
        TestSupport.untilParked(closer.thread);
        TestSupport.assertThrowsMentioning(IllegalStateException.class,
                () -> engine.op("late").push(TestSupport.nothing()), "closed", "late");
        ExecutionException refused = assertThrows(ExecutionException.class, () -> other.op("of another engine")
                .submit(() -> engine.op("late").push(TestSupport.nothing())).get());
        TestSupport.assertMentions(Objects.requireNonNull(refused.getCause()), "closed", "late");
        go.countDown();
        closer.join();
        assertEquals(List.of("push", "prepared", "async", "ASYNC"), order.subList(0, 4));
        assertEquals(8, order.size(), order::toString);
        assertTrue(order.containsAll(List.of("of ASYNC", "call", "innermost", "deleted")), order::toString);
    }

    @Test
    void closeWithALimitOnAnEndlessChain() throws Exception {
        Assumptions.assumeTrue(kind != EngineUnderTest.NAIVE, "its push never returns");
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger refused = new AtomicInteger();
        engine.op("endless").mutates(v).push(() -> again(engine, v, refused));
        assertFalse(engine.close(Duration.ofMillis(5)));
        engine.close();
        assertTrue(refused.get() <= 1, "at most the running one was told");
        assertTrue(engine.close(Duration.ZERO));
        assertEquals(engine.stats().pushed(), v.version());
    }

    private static void again(Engine engine, Var v, AtomicInteger refused) {
        try {
            engine.op("endless").mutates(v).push(() -> again(engine, v, refused));
        } catch (IllegalStateException e) {
            refused.incrementAndGet();
            TestSupport.assertMentions(e, "closed", "endless");
        }
    }

    @Test
    void pushesAfterCloseNameTheEngine() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        PreparedOp prepared = engine.op("late").reads(v).prepare(TestSupport.nothing());
        engine.close();
        String name = engine.snapshot().engine();
        List<Executable> pushes = List.of(() -> engine.op("late").push(TestSupport.nothing()),
                () -> engine.op("late").pushAsync(Completion::complete),
                () -> engine.op("late").submit(TestSupport.nothing()).isDone(),
                () -> engine.op("late").call(() -> 1).isDone(), prepared::push, () -> prepared.push(1),
                () -> prepared.push(Lane.CPU, 1),
                () -> engine.delete(v), () -> engine.clearFailure(v));
        for (Executable push : pushes) {
            TestSupport.assertThrowsMentioning(IllegalStateException.class, push, name, "closed");
        }
        assertEquals(0, engine.stats().pushed());
    }

    @Test
    void afterCloseOneCanStillAsk() throws Exception {
        Engine engine = open();
        Var good = engine.newVar("good");
        Var bad = engine.newVar("bad");
        engine.op("works").mutates(good).push(TestSupport.nothing());
        engine.op("fails").mutates(bad).push(TestSupport.failing(planted));
        engine.close();
        TestSupport.assertHealthy(engine, good);
        engine.waitToWrite(bad);
        engine.waitToRead(good, Duration.ZERO);
        TestSupport.assertPoisoned(engine, bad, "fails", planted);
        assertNotNull(engine.failure(bad));
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        assertSame(planted, thrown.getCause());
        engine.waitForAll(Duration.ZERO);
        assertEquals(2, engine.stats().completed());
        assertEquals(0, engine.stats().workers());
        assertTrue(engine.snapshot().operations().isEmpty());
        assertEquals(1, good.version());
    }

    @Test
    void whatNoOneObservedGoesToTheHandlerOnce() {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        engine.op("skipped").mutates(v).push(TestSupport.nothing());
        engine.op("alone").push(TestSupport.failing(new Planted("second")));
        engine.close();
        engine.close();
        List<String> told = unhandled(engine).stream().map(t -> ((OperationFailedException) t).operation()).sorted()
                .toList();
        assertEquals(List.of("alone", "fails"), told);
    }

    @Test
    void whatSomeoneObservedDoesNot() throws Exception {
        Engine engine = open();
        Var[] v = TestSupport.vars(engine, 5);
        for (int i = 0; i < 3; i++) {
            engine.op("fails" + i).mutates(v[i]).push(TestSupport.failing(planted));
        }
        assertThrows(OperationFailedException.class, () -> engine.waitToRead(v[0]));
        engine.waitToWrite(v[1]);
        assertNotNull(engine.failure(v[1]));
        assertThrows(ExecutionException.class,
                () -> engine.op("skipped").reads(v[2]).submit(TestSupport.nothing()).get());
        assertThrows(ExecutionException.class, () -> engine.op("future").submit(TestSupport.failing(planted)).get());
        engine.close();
        assertEquals(List.of(), List.copyOf(unhandled(engine)));
        Engine other = open();
        other.op("fails").push(TestSupport.failing(planted));
        assertThrows(OperationFailedException.class, other::waitForAll);
        other.close();
        assertEquals(List.of(), List.copyOf(unhandled(other)));
    }

    /** At the limit the engine is shut down: pending operations are cancelled, and even running ones cannot push. */
    @Test
    void closeWithALimit() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        for (Duration limit : List.of(Duration.ZERO, Duration.ofMillis(5), Duration.ofSeconds(-1))) {
            Engine engine = open();
            Var v = engine.newVar("v");
            AtomicInteger ran = new AtomicInteger();
            AtomicInteger deleted = new AtomicInteger();
            CountDownLatch started = new CountDownLatch(1);
            CompletableFuture<IllegalStateException> told = new CompletableFuture<>();
            engine.op("running").mutates(v).push(() -> {
                started.countDown();
                assertThrows(InterruptedException.class, new CountDownLatch(1)::await);
                told.complete(assertThrows(IllegalStateException.class,
                        () -> engine.op("late").push(ran::incrementAndGet)));
            });
            TestSupport.await(started);
            CompletableFuture<Void> behind = engine.op("behind").mutates(v).submit(ran::incrementAndGet);
            Held held = Held.push(engine.op("held").mutates(v));
            engine.delete(v, deleted::incrementAndGet);
            assertFalse(engine.close(limit));
            assertThrows(CancellationException.class, behind::get);
            TestSupport.assertMentions(told.get(30, TimeUnit.SECONDS), "closed", "late");
            TestSupport.assertThrowsMentioning(IllegalStateException.class,
                    () -> engine.op("late").push(TestSupport.nothing()), "closed");
            engine.close();
            assertEquals(0, ran.get());
            assertEquals(1, deleted.get());
            assertFalse(held.isStarted());
            assertTrue(engine.close(Duration.ZERO));
        }
    }

    @Test
    void anInterruptEndsTheWaitAndNotTheDraining() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        engine.op("behind").mutates(v).push(TestSupport.nothing());
        Task closer = Task.start("closer", () -> {
            TestSupport.assertThrowsMentioning(IllegalStateException.class, engine::close, engine.snapshot().engine(),
                    "interrupted", "2",
                    "held",
                    "close(Duration)", "shutdownNow()");
            assertTrue(Thread.interrupted(), "the flag is kept");
        });
        TestSupport.untilParked(closer.thread);
        closer.thread.interrupt();
        closer.join();
        Task limited = Task.start("closer with a limit", () -> {
            assertFalse(engine.close(Duration.ofSeconds(60)));
            assertTrue(Thread.interrupted(), "the flag is kept");
        });
        TestSupport.untilParked(limited.thread);
        limited.thread.interrupt();
        limited.join();
        TestSupport.assertThrowsMentioning(IllegalStateException.class,
                () -> engine.op("late").push(TestSupport.nothing()), "closed");
        held.release();
        engine.close();
        assertEquals(2, v.version());
    }

    @Test
    void anInterruptedThreadMayCloseWhatHasEnded() throws Exception {
        Engine engine = open();
        engine.op("op").push(TestSupport.nothing());
        engine.waitForAll();
        Thread.currentThread().interrupt();
        engine.close();
        assertTrue(Thread.interrupted(), "the flag is kept");
    }

    @Test
    void manyThreadsCloseAtOnceWhileOthersPushAndWait() throws Exception {
        for (int round = 0; round < 10; round++) {
            Engine engine = open();
            Var v = engine.newVar("v");
            AtomicInteger pushed = new AtomicInteger();
            CountDownLatch going = new CountDownLatch(200);
            List<Task> tasks = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                tasks.add(Task.start("pusher", () -> {
                    IllegalStateException refused = null;
                    while (refused == null) {
                        try {
                            engine.op("op").mutates(v).push(TestSupport.nothing());
                            pushed.incrementAndGet();
                        } catch (IllegalStateException e) {
                            refused = e;
                        }
                        going.countDown();
                    }
                    TestSupport.assertMentions(refused, "closed");
                }));
            }
            TestSupport.await(going);
            for (int t = 0; t < 3; t++) {
                tasks.add(Task.start("waiter", () -> {
                    engine.waitToRead(v);
                    engine.waitForAll();
                }));
                tasks.add(Task.start("closer", engine::close));
            }
            for (Task task : tasks) {
                task.join();
            }
            assertEquals(pushed.get(), v.version(), "no operation is lost");
        }
    }

    @Test
    void anOperationOfAnotherEngineMayClose() throws Exception {
        Engine engine = open();
        Engine other = open();
        Var v = engine.newVar("v");
        engine.op("op").mutates(v).push(TestSupport.nothing());
        other.op("closes").submit(engine::close).get();
        assertEquals(1, v.version());
    }

    @Test
    void aThousandEnginesLeaveNoThread() {
        List<Thread> before = engineThreads();
        for (int i = 0; i < 1_000 / EngineUnderTest.values().length + 1; i++) {
            try (Engine engine = kind.builder().name("thousand").build()) {
                Var v = engine.newVar("v");
                engine.op("op").mutates(v).push(TestSupport.nothing());
                engine.op("copy").reads(v).kind(OpKind.COPY_IN).push(TestSupport.nothing());
                if (i % 3 == 0) {
                    engine.op("urgent").kind(OpKind.PRIORITIZED).push(TestSupport.nothing());
                } else if (i % 3 == 1) {
                    engine.shutdownNow();
                }
            }
        }
        TestSupport.eventually(() -> before.containsAll(engineThreads()), () -> "left: " + engineThreads());
    }

    private static List<Thread> engineThreads() {
        return OpenEngines.threadsOf("thousand");
    }
}

package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** waitUntilIdle and close wait for what running operations push; waitForAll does not, on any engine. */
@EveryEngine
class WaitUntilIdleTest extends EngineContract {
    private final Planted planted = new Planted("planted");

    /** A wrong rule: operations that were pushed and not admitted yet are not pending. */
    private static final class ForgetsTheLog extends Rules {
        @Override
        public boolean isIdle(long pushed, long completed, long admitted) {
            return admitted == completed;
        }
    }

    /** A random tree of operations: each pushes its children inside its body, in one of several ways. */
    private static final class Tree {
        final Engine engine;
        final Var[] vars;
        final AtomicInteger pushed = new AtomicInteger();
        final AtomicInteger ran = new AtomicInteger();
        final AtomicInteger failed = new AtomicInteger();

        Tree(Engine engine) {
            this.engine = engine;
            vars = TestSupport.vars(engine, 4);
        }

        void push(long seed, int depth) {
            SplittableRandom random = new SplittableRandom(seed);
            Body body = () -> {
                ran.incrementAndGet();
                int children = depth == 0 ? 0 : random.nextInt(4);
                for (int i = 0; i < children; i++) {
                    push(random.nextLong(), depth - 1);
                }
                if (random.nextInt(20) == 0) {
                    failed.incrementAndGet();
                    throw new Planted("of the tree");
                }
            };
            // None depends on another's success: all run.
            OpBuilder op = engine.op("node").overwrites(vars[random.nextInt(vars.length)]);
            if (random.nextInt(4) == 0) {
                op.overwrites(vars[random.nextInt(vars.length)]);
            }
            pushed.incrementAndGet();
            switch (random.nextInt(7)) {
                case 0 -> op.pushAsync(done -> {
                    body.run();
                    done.complete();
                });
                case 1 -> assertFalse(op.submit(body).isCancelled());
                case 2 -> op.kind(OpKind.ASYNC).push(body);
                case 3 -> op.prepare(body).push(random.nextInt(3));
                case 4 -> engine.delete(engine.newVar("temporary"), Lane.CPU, body);
                case 5 -> op.kind(random.nextBoolean() ? OpKind.COPY_IN : OpKind.PRIORITIZED).push(body);
                default -> op.push(body);
            }
        }
    }

    private static void waitUntilIdle(Tree tree, Engine engine) throws InterruptedException {
        try {
            engine.waitUntilIdle();
            assertEquals(0, tree.failed.get(), "the wait throws the failures");
        } catch (OperationFailedException e) {
            assertTrue(tree.failed.getAndSet(0) > 0, "it throws only what has failed");
        }
    }

    @Test
    void randomTreesOfPushes() throws Exception {
        SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED);
        Engine engine = open();
        Tree tree = new Tree(engine);
        for (int round = 0; round < TestSupport.scaled(3_000, 100); round++) {
            long seed = random.nextLong();
            for (int root = 0; root < 3; root++) {
                tree.push(seed + root, 5);
            }
            waitUntilIdle(tree, engine);
            assertEquals(tree.pushed.get(), tree.ran.get(), "seed " + seed);
            assertEquals(0, engine.stats().pending(), "seed " + seed);
        }
        engine.waitForAll(Duration.ZERO);
    }

    @Test
    void closeDrainsRandomTrees() {
        SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED);
        for (int round = 0; round < TestSupport.scaled(1_000, 50); round++) {
            long seed = random.nextLong();
            Engine engine = open();
            Tree tree = new Tree(engine);
            for (int root = 0; root < 3; root++) {
                tree.push(seed + root, 5);
            }
            if (round % 2 == 0) {
                engine.close();
            } else {
                assertTrue(engine.close(Duration.ofSeconds(60)));
            }
            assertEquals(tree.pushed.get(), tree.ran.get(), "seed " + seed);
        }
    }

    @Test
    void severalThreadsPushAndWait() throws Exception {
        Engine engine = open();
        List<Task> tasks = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            long seed = EngineUnderTest.SEED + t;
            tasks.add(Task.start("pusher", () -> {
                for (int round = 0; round < 20; round++) {
                    Tree tree = new Tree(engine);
                    tree.push(seed * 31 + round, 4);
                    waitUntilIdleAmongOthers(engine);
                    assertEquals(tree.pushed.get(), tree.ran.get(), () -> "seed " + seed);
                }
            }));
        }
        for (Task task : tasks) {
            task.join();
        }
        waitUntilIdleAmongOthers(engine);
        engine.waitUntilIdle(Duration.ZERO);
    }

    private static void waitUntilIdleAmongOthers(Engine engine) throws InterruptedException {
        try {
            engine.waitUntilIdle();
        } catch (OperationFailedException e) {
            TestSupport.assertMentions(e, "of the tree");
        }
    }

    /** The operation is pushed by a running one, after the wait for all has begun. */
    @Test
    void waitForAllDoesNotWaitForLaterPushesOfRunningOperations() throws Exception {
        Engine engine = open();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Held held = new Held();
        Task pusher = Task.start("pusher", () -> engine.op("outer").push(() -> {
            started.countDown();
            TestSupport.await(go);
            held.pushed(engine.op("held"));
        }));
        if (kind == EngineUnderTest.SHUFFLED) {
            pusher.join();
            go.countDown();
            engine.waitForAll();
        } else {
            TestSupport.await(started);
            Task waiter = Task.start("waiter", () -> engine.waitForAll());
            TestSupport.untilParked(waiter.thread);
            go.countDown();
            waiter.join();
            pusher.join();
        }
        assertThrows(TimeoutException.class, () -> engine.waitUntilIdle(Duration.ZERO));
        assertThrows(TimeoutException.class, () -> engine.waitUntilIdle(Duration.ofMillis(1)));
        assertThrows(TimeoutException.class, () -> engine.waitForAll(Duration.ZERO));
        held.release();
        engine.waitUntilIdle();
        assertEquals(0, engine.stats().pending());
    }

    @Test
    void itThrowsTheFailuresAsWaitForAllDoes() throws Exception {
        Engine engine = open();
        Held held = new Held();
        engine.op("outer").push(() -> {
            held.pushed(engine.op("held"));
            for (int i = 0; i < 20; i++) {
                engine.op("fails" + i).push(TestSupport.failing(planted));
            }
        });
        assertThrows(TimeoutException.class, () -> engine.waitUntilIdle(Duration.ofMillis(1)));
        held.release();
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitUntilIdle);
        assertSame(planted, thrown.getCause());
        assertEquals(17, thrown.getSuppressed().length, "sixteen, and a count");
        engine.waitUntilIdle();
        engine.waitForAll();
        engine.op("fails again").push(TestSupport.failing(planted));
        assertEquals("fails again", assertThrows(OperationFailedException.class, engine::waitForAll).operation());
        engine.waitUntilIdle(Duration.ZERO);
        engine.op("fails at last").push(TestSupport.failing(planted));
        engine.close();
        assertEquals("fails at last",
                assertThrows(OperationFailedException.class, () -> engine.waitUntilIdle(Duration.ZERO)).operation());
    }

    @Test
    void insideAnOperationItIsRefused() throws Exception {
        Engine engine = open();
        Engine other = open();
        engine.op("culprit").submit(() -> {
            for (Body wait : List.<Body>of(engine::waitUntilIdle, () -> engine.waitUntilIdle(Duration.ofDays(1)))) {
                TestSupport.assertThrowsMentioning(IllegalStateException.class, wait::run, "waitUntilIdle", "culprit");
            }
            other.op("of another").push(TestSupport.nothing());
            other.waitUntilIdle();
            assertEquals(1, other.stats().completed());
        }).get();
    }

    @Test
    void aNewEngineAndAClosedOneAreIdle() throws Exception {
        Engine engine = open();
        engine.waitUntilIdle();
        engine.waitUntilIdle(Duration.ZERO);
        engine.delete(engine.newVar("v"));
        engine.waitUntilIdle(Duration.ZERO);
        engine.close();
        engine.waitUntilIdle();
        Engine shut = open();
        shut.op("op").push(TestSupport.nothing());
        shut.shutdownNow();
        try {
            shut.waitUntilIdle();
        } catch (OperationFailedException e) {
            TestSupport.assertMentions(e, "op");
        }
        assertEquals(0, shut.stats().pending());
    }

    @Test
    void itIsInterruptible() throws Exception {
        Engine engine = open();
        Held held = new Held();
        engine.op("outer").push(() -> held.pushed(engine.op("held")));
        Task waiting = Task.start("waiting", () -> assertThrows(InterruptedException.class, engine::waitUntilIdle));
        TestSupport.eventually(held::isStarted, () -> "the waiting thread or a worker starts it");
        TestSupport.untilParked(waiting.thread);
        waiting.thread.interrupt();
        waiting.join();
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, engine::waitUntilIdle);
        held.release();
        engine.waitUntilIdle();
    }

    @Test
    void anEndlessChainEndsAtTheLimit() throws Exception {
        Assumptions.assumeTrue(kind != EngineUnderTest.NAIVE, "its push never returns");
        Engine engine = open();
        AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
        engine.op("chain").push(() -> chain(engine, left));
        assertThrows(TimeoutException.class, () -> engine.waitUntilIdle(Duration.ofMillis(2)));
        engine.waitForAll();
        left.set(10);
        engine.waitUntilIdle();
        assertEquals(0, engine.stats().pending());
    }

    private static void chain(Engine engine, AtomicInteger left) {
        if (left.decrementAndGet() > 0) {
            engine.op("chain").push(() -> chain(engine, left));
        }
    }

    @Test
    void aWrongRuleIsDetected() throws Exception {
        Assumptions.assumeTrue(kind.isSingle(), "a second worker may admit the pushed operation before the first ends");
        Engine engine = open(builder -> ((EngineBuilder) builder).rules(new ForgetsTheLog()));
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Integer> ranAtTheEnd = new CompletableFuture<>();
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        engine.op("outer").push(() -> {
            TestSupport.await(go);
            engine.op("inner").push(() -> {
                TestSupport.await(end);
                ran.incrementAndGet();
            });
        });
        Task waiter = Task.start("waiter", () -> {
            engine.waitUntilIdle();
            ranAtTheEnd.complete(ran.get());
        });
        TestSupport.untilParked(waiter.thread);
        go.countDown();
        assertEquals(0, ranAtTheEnd.get(), "it returns while an operation is pending");
        end.countDown();
        waiter.join();
    }
}

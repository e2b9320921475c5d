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
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Waits and pushes inside operations. A pool of one thread does not hang, and a wait that could never end is refused
 * with a message that names the cycle.
 */
@EveryEngine
class InsideWaitTest extends EngineContract {
    private static final Duration LONG = Duration.ofSeconds(10);

    /** Runs a body as an operation and rethrows its exception. */
    private static void inside(Engine engine, String name, Body body, Var... mutates) throws Exception {
        try {
            engine.op(name).mutates(mutates).submit(body).get();
        } catch (ExecutionException e) {
            throw new AssertionError("in operation '" + name + "'", e.getCause());
        }
    }

    private static IllegalStateException assertNeverEnds(Body wait, Object... named) {
        return TestSupport.assertThrowsMentioning(IllegalStateException.class, wait::run, named);
    }

    @Test
    void aWaitForWhatTheOperationItselfPushed() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger value = new AtomicInteger();
        inside(engine, "outer", () -> {
            engine.op("inner").mutates(v).push(() -> value.set(1));
            engine.waitToRead(v);
            assertEquals(1, value.get());
            engine.op("inner again").mutates(v).push(() -> value.set(2));
            engine.waitToWrite(v, LONG);
            assertEquals(2, value.get());
        });
    }

    @Test
    void getAndJoinInsideOperations() throws Exception {
        Engine engine = open();
        inside(engine, "outer", () -> {
            CompletableFuture<Integer> seven = engine.op("seven").call(() -> 7);
            CompletableFuture<Integer> eight = engine.op("eight").call(() -> 8);
            CompletableFuture<Integer> nine = engine.op("nine").call(() -> 9);
            assertEquals(7, seven.get());
            assertEquals(8, eight.join());
            assertEquals(9, nine.get(60, TimeUnit.SECONDS));
        });
    }

    @Test
    void waitsNestDeeplyOnAPoolOfOne() throws Exception {
        Engine engine = open();
        assertEquals(40, nested(engine, 40));
    }

    /** Each level's wait is checked against the waits of all outer levels, without visiting all of them. */
    @Test
    void waitsNestVeryDeeply() throws Exception {
        Assumptions.assumeTrue(kind == EngineUnderTest.POOLED_1 || kind == EngineUnderTest.PER_DEVICE);
        int depth = (int) TestSupport.scaled(2_000, 600);
        Engine engine = open();
        long began = System.nanoTime();
        assertEquals(depth, nested(engine, depth));
        assertTrue(!TestSupport.FULL || System.nanoTime() - began < TimeUnit.SECONDS.toNanos(5),
                "one look for each level takes less");
    }

    private static int nested(Engine engine, int depth) throws Exception {
        return depth == 0 ? 0 : engine.op("level" + depth).call(() -> 1 + nested(engine, depth - 1)).get();
    }

    @Test
    void manyOperationsWaitAtOnce() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger value = new AtomicInteger();
        List<CompletableFuture<Integer>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add(engine.op("waiting" + i).call(() -> {
                engine.op("add").mutates(v).push(value::incrementAndGet);
                engine.waitToRead(v);
                return value.get();
            }));
        }
        for (CompletableFuture<Integer> future : waiting) {
            assertTrue(future.get() >= 1);
        }
        engine.waitForAll();
        assertEquals(20, value.get());
    }

    @Test
    void aWaitOnAnotherEngineReleasesTheWorkerToo() throws Exception {
        Engine one = open();
        Engine two = open();
        Var a = one.newVar("a");
        Var b = two.newVar("b");
        List<String> order = new ArrayList<>();
        inside(one, "outer", () -> {
            two.op("of two").mutates(b).push(() -> inside(one, "back in one", () -> order.add("inner"), a));
            two.waitToRead(b);
            two.waitForAll();
            order.add("outer");
        });
        assertEquals(List.of("inner", "outer"), order);
    }

    @Test
    void waitForAllInsideAnOwnOperationIsNamed() throws Exception {
        Engine engine = open();
        inside(engine, "culprit", () -> {
            assertNeverEnds(engine::waitForAll, "waitForAll", "culprit");
            assertNeverEnds(() -> engine.waitForAll(LONG), "waitForAll", "culprit");
        });
    }

    @Test
    void closeInsideAnOwnOperationIsNamed() throws Exception {
        Engine engine = open();
        inside(engine, "culprit", () -> {
            assertNeverEnds(engine::close, "culprit");
            assertNeverEnds(() -> engine.close(LONG), "culprit");
        });
        engine.op("still open").push(TestSupport.nothing());
    }

    @Test
    void aWaitForAVariableThatTheOperationHoldsIsNamed() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("vvv");
        inside(engine, "mutator", () -> {
            assertNeverEnds(() -> engine.waitToRead(v), "waitToRead", "vvv", "mutator");
            assertNeverEnds(() -> engine.waitToWrite(v, LONG), "waitToWrite", "vvv", "mutator");
        }, v);
        engine.op("reader").reads(v).submit(() -> {
            engine.waitToRead(v);
            assertNeverEnds(() -> engine.waitToWrite(v), "waitToWrite", "vvv", "reader");
        }).get();
        engine.waitToWrite(v);
    }

    @Test
    void aWaitForASuccessorIsNamedWithTheWholeChain() throws Exception {
        Engine engine = open();
        Var[] v = TestSupport.vars(engine, 4);
        inside(engine, "first", () -> {
            engine.op("second").reads(v[0]).mutates(v[1]).push(TestSupport.nothing());
            engine.op("third").reads(v[1]).mutates(v[2]).push(TestSupport.nothing());
            CompletableFuture<Void> last = engine.op("fourth").reads(v[2]).mutates(v[3]).submit(TestSupport.nothing());
            assertNeverEnds(() -> engine.waitToRead(v[3]), "waitToRead", "v3", "first", "second", "third", "fourth");
            assertNeverEnds(last::get, "first", "second", "third", "fourth");
            assertNeverEnds(last::join, "first", "second", "third", "fourth");
            assertFalse(last.isDone());
        }, v[0]);
        engine.waitForAll();
        assertEquals(1, v[3].version(), "the wait that was refused has changed nothing");
    }

    @Test
    void anOperationCannotWaitForItself() throws Exception {
        Engine engine = open();
        CompletableFuture<CompletableFuture<Void>> own = new CompletableFuture<>();
        Var v = engine.newVar("v");
        Task releaser = kind == EngineUnderTest.NAIVE ? null : Task.start("none", TestSupport.nothing());
        Assumptions.assumeTrue(releaser != null, "the naive engine gives the future when the operation is over");
        CompletableFuture<Void> future = engine.op("narcissus").mutates(v)
                .submit(() -> assertNeverEnds(() -> own.get().get(), "narcissus"));
        own.complete(future);
        future.get();
    }

    @Test
    void twoOperationsThatWaitForEachOther() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var a = engine.newVar("aaa");
        Var b = engine.newVar("bbb");
        CountDownLatch both = new CountDownLatch(2);
        AtomicInteger refused = new AtomicInteger();
        CompletableFuture<Void> one = engine.op("one").mutates(a).on(Lane.of("cpu:1"))
                .submit(() -> waitForTheOther(engine, b, both, refused));
        CompletableFuture<Void> two = engine.op("two").mutates(b).on(Lane.of("cpu:2")).kind(OpKind.COPY_IN)
                .submit(() -> waitForTheOther(engine, a, both, refused));
        one.get();
        two.get();
        assertEquals(1, refused.get(), "of two that wait for each other, one is told");
    }

    private static void waitForTheOther(Engine engine, Var other, CountDownLatch both, AtomicInteger refused)
            throws Exception {
        both.countDown();
        TestSupport.await(both);
        try {
            engine.waitToRead(other);
        } catch (IllegalStateException e) {
            TestSupport.assertMentions(e, "one", "two");
            refused.incrementAndGet();
        }
    }

    @Test
    void aWaitThroughTheWaitOfAnother() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var a = engine.newVar("aaa");
        Var b = engine.newVar("bbb");
        CountDownLatch waiting = new CountDownLatch(1);
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        CompletableFuture<Void> first = engine.op("first").mutates(a).submit(() -> {
            TestSupport.await(waiting);
            TestSupport.untilParked(waiter.get());
            // Operation "second" holds b and waits for a, which this operation holds.
            assertNeverEnds(() -> engine.waitToRead(b), "first", "second", "bbb");
        });
        engine.op("second").mutates(b).kind(OpKind.COPY_OUT).push(() -> {
            waiter.complete(Thread.currentThread());
            waiting.countDown();
            engine.waitToRead(a);
        });
        first.get();
        engine.waitForAll();
    }

    @Test
    void pushesInsideOperationsKeepTheOrder() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        List<Integer> order = new ArrayList<>();
        inside(engine, "outer", () -> {
            for (int i = 0; i < 100; i++) {
                int at = i;
                engine.op("inner").mutates(v).push(() -> {
                    order.add(at);
                    engine.op("innermost").mutates(v).push(() -> order.add(100 + at));
                });
            }
        }, v);
        engine.waitForAll();
        engine.waitForAll();
        assertEquals(200, order.size());
        for (int i = 0; i < 100; i++) {
            assertEquals(i, order.indexOf(i) < order.indexOf(100 + i) ? i : -1);
        }
        assertEquals(order.stream().filter(i -> i < 100).sorted().toList(),
                order.stream().filter(i -> i < 100).toList());
        assertEquals(order.stream().filter(i -> i >= 100).sorted().toList(),
                order.stream().filter(i -> i >= 100).toList());
    }

    @Test
    void aWaitInsideSeesTheFailureAndTheOperationMayGoOn() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var w = engine.newVar("w");
        Planted planted = new Planted("inner");
        inside(engine, "outer", () -> {
            engine.op("fails").mutates(v).push(TestSupport.failing(planted));
            TestSupport.assertPoisoned(engine, v, "fails", planted);
            ExecutionException e = assertThrows(ExecutionException.class,
                    () -> engine.op("fails too").submit(TestSupport.failing(planted)).get());
            assertEquals(planted, e.getCause());
        }, w);
        TestSupport.assertHealthy(engine, w);
        assertThrows(OperationFailedException.class, engine::waitForAll);
    }

    @Test
    void aStageIsWaitedForAsAnyWait() throws Exception {
        Engine engine = open();
        CompletableFuture<Integer> promise = new CompletableFuture<>();
        CompletableFuture<Integer> failed = new CompletableFuture<>();
        inside(engine, "outer", () -> {
            engine.op("completes").push(() -> promise.complete(1));
            engine.await(promise);
            assertEquals(1, promise.getNow(0));
            engine.op("completes in another way").push(() -> failed.completeExceptionally(new Planted("stage")));
            engine.await(failed);
            assertTrue(failed.isCompletedExceptionally());
        });
        CompletableFuture<Integer> outside = new CompletableFuture<>();
        engine.op("completes").push(() -> outside.complete(2));
        engine.await(outside);
        engine.await(outside);
        assertEquals(2, outside.getNow(0));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> engine.await(new CompletableFuture<>()));
    }

    /**
     * The engine does not know about a body that blocks without Engine.blocking: with one worker the second operation
     * would never run.
     */
    @Test
    void anotherWorkerTakesThePlaceOfOneThatBlocksElsewhere() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        CountDownLatch go = new CountDownLatch(1);
        assertFalse(Engine.isInside());
        CompletableFuture<Void> blocks = engine.op("blocks").submit(() -> {
            assertTrue(Engine.isInside());
            Engine.blocking(() -> TestSupport.await(go));
            assertThrows(Planted.class, () -> Engine.blocking(() -> {
                throw new Planted("what the action throws");
            }));
        });
        engine.op("lets it go on").push(go::countDown);
        blocks.get(60, TimeUnit.SECONDS);
        Engine.blocking(go::await);
    }
}

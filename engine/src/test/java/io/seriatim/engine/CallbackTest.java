package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Callbacks of users may block, wait, push and close: the thread that calls them holds no operation that another thread
 * could run.
 */
@EveryEngine
class CallbackTest extends EngineContract {
    /** A wrong rule: calls callbacks while the worker holds its next operation. */
    private static final class TellsLate extends Rules {
        @Override
        @Nullable
        public Callback nextCallback(EngineCore core) {
            Operation next = core.logReader.next(queue(), 0, false);
            if (next == null) {
                return core.lock.pollDeferred();
            }
            queue().putBack(next);
            return null;
        }

        private static ReadyQueue queue() {
            return ((Worker) Thread.currentThread()).queue();
        }

        @Override
        public void beforeRun(EngineCore core) {
            Callback callback;
            do {
                core.lock.enter();
                callback = core.lock.pollDeferred();
                core.lock.exit();
                if (callback != null) {
                    core.guard(callback);
                }
            } while (callback != null);
        }
    }

    /**
     * Runs a body as an operation. Operations that the body pushes become ready when it has ended, and their dependents
     * are registered by then.
     */
    private static void prepare(Engine engine, Var gate, Body body) throws Exception {
        try {
            engine.op("gate").mutates(gate).submit(body).get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            assertInstanceOf(Planted.class, e.getCause());
        }
    }

    private static void await(CompletableFuture<?> end) throws Exception {
        end.get(30, TimeUnit.SECONDS);
    }

    /** Lets an engine run operations that runs them only inside waits. */
    private void finish(Engine engine, CompletableFuture<?> end) throws Exception {
        if (kind == EngineUnderTest.SHUFFLED) {
            engine.waitForAll();
            engine.waitForAll();
        }
        await(end);
    }

    @Test
    void aCallbackWaitsForTheNextOperation() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Void> end = new CompletableFuture<>();
        prepare(engine, v, () -> {
            CompletableFuture<Void> a = engine.op("a").reads(v).submit(TestSupport.nothing());
            CompletableFuture<Void> b = engine.op("b").reads(v).submit(TestSupport.nothing());
            a.thenRun(b::join).whenComplete((none, t) -> end.complete(null)).isDone();
        });
        finish(engine, end);
    }

    @Test
    void aCallbackWaitsForAVariableAndForAll() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var w = engine.newVar("w");
        AtomicInteger ran = new AtomicInteger();
        CompletableFuture<Void> end = new CompletableFuture<>();
        prepare(engine, v, () -> {
            CompletableFuture<Void> a = engine.op("a").reads(v).submit(TestSupport.nothing());
            for (int i = 0; i < 10; i++) {
                engine.op("b").mutates(w).push(ran::incrementAndGet);
            }
            a.thenRun(() -> {
                try {
                    engine.waitToRead(w);
                    assertEquals(10, ran.get());
                    engine.waitForAll();
                    end.complete(null);
                } catch (Throwable t) {
                    end.completeExceptionally(t);
                }
            }).isDone();
        });
        finish(engine, end);
    }

    @Test
    void aCallbackClosesTheEngine() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger ran = new AtomicInteger();
        CompletableFuture<Void> end = new CompletableFuture<>();
        prepare(engine, v, () -> {
            CompletableFuture<Void> a = engine.op("a").reads(v).submit(TestSupport.nothing());
            for (int i = 0; i < 10; i++) {
                engine.op("b").mutates(v).push(ran::incrementAndGet);
            }
            a.thenRun(() -> {
                try {
                    engine.close();
                    assertEquals(10, ran.get());
                    end.complete(null);
                } catch (Throwable t) {
                    end.completeExceptionally(t);
                }
            }).isDone();
        });
        finish(engine, end);
        assertThrows(IllegalStateException.class, () -> engine.op("late").push(TestSupport.nothing()));
    }

    @Test
    void twoCallbacksCloseTheEngineAndSoDoesTheUser() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger closed = new AtomicInteger();
        prepare(engine, v, () -> {
            for (int i = 0; i < 2; i++) {
                engine.op("a").reads(v).submit(TestSupport.nothing()).thenRun(() -> {
                    engine.close();
                    closed.incrementAndGet();
                }).isDone();
            }
        });
        if (kind == EngineUnderTest.SHUFFLED) {
            engine.waitForAll();
        }
        engine.close();
        TestSupport.eventually(() -> closed.get() == 2, () -> "closed " + closed);
    }

    @Test
    void aCallbackPushesIntoAFullEngine() throws Exception {
        Engine engine = open(builder -> builder.maxPending(4));
        Var v = engine.newVar("v");
        AtomicInteger ran = new AtomicInteger();
        CompletableFuture<Void> end = new CompletableFuture<>();
        prepare(engine, v, () -> {
            CompletableFuture<Void> a = engine.op("a").reads(v).submit(TestSupport.nothing());
            for (int i = 0; i < 4; i++) {
                engine.op("b").mutates(v).push(ran::incrementAndGet);
            }
            a.thenRun(() -> {
                for (int i = 0; i < 20; i++) {
                    engine.op("c").mutates(v).push(ran::incrementAndGet);
                }
            }).whenComplete((none, t) -> end.complete(null)).isDone();
        });
        finish(engine, end);
        engine.waitForAll();
        assertEquals(24, ran.get());
    }

    /** The callback does not wait by a method of the engine, so the engine does not know that its thread is blocked. */
    @Test
    void aCallbackThatBlocksHoldsUpNoReadyOperation() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        CountDownLatch ran = new CountDownLatch(1);
        CompletableFuture<Void> end = new CompletableFuture<>();
        prepare(engine, v, () -> {
            CompletableFuture<Void> a = engine.op("a").reads(v).submit(TestSupport.nothing());
            engine.op("b").reads(v).push(ran::countDown);
            a.thenRun(() -> {
                try {
                    TestSupport.await(ran);
                    end.complete(null);
                } catch (Throwable t) {
                    end.completeExceptionally(t);
                }
            }).isDone();
        });
        await(end);
    }

    @Test
    void aCallbackWaitsForTheCallbackOfAnother() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Void> end = new CompletableFuture<>();
        prepare(engine, v, () -> {
            CompletableFuture<Void> a = engine.op("a").reads(v).submit(TestSupport.nothing());
            CompletableFuture<Integer> b = engine.op("b").reads(v).call(() -> 6).thenApply(six -> six + 1);
            a.thenRun(() -> end.complete(b.join() == 7 ? null : TestSupport.nil())).isDone();
        });
        await(end);
    }

    @Test
    void waitersAreWokenBeforeUsersAreTold() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        CountDownLatch seen = new CountDownLatch(1);
        AtomicReference<CompletableFuture<Integer>> future = new AtomicReference<>();
        CompletableFuture<Void> told = new CompletableFuture<>();
        CountDownLatch pushed = new CountDownLatch(1);
        prepare(engine, v, () -> {
            CompletableFuture<Integer> a = engine.op("a").reads(v).call(() -> 7);
            a.thenRun(() -> {
                try {
                    TestSupport.await(seen);
                    told.complete(null);
                } catch (Throwable t) {
                    told.completeExceptionally(t);
                }
            }).isDone();
            future.set(a);
            pushed.countDown();
        });
        TestSupport.await(pushed);
        CompletableFuture<Integer> a = Objects.requireNonNull(future.get());
        assertEquals(7, a.get());
        engine.waitToRead(v);
        engine.waitForAll();
        assertTrue(a.isDone());
        assertFalse(a.isCompletedExceptionally());
        assertFalse(a.isCancelled());
        assertEquals(7, a.getNow(0));
        assertEquals(7, a.join());
        OpFuture<Integer> own = (OpFuture<Integer>) a;
        assertEquals(7, own.resultNow());
        assertThrows(IllegalStateException.class, own::exceptionNow);
        assertFalse(a.complete(8));
        assertFalse(a.completeExceptionally(new Planted("late")));
        assertFalse(a.cancel(true));
        assertFalse(told.isDone());
        seen.countDown();
        await(told);
        assertEquals(7, a.get());
    }

    @Test
    void aFailedFutureIsDoneBeforeItsDependentsAreCalled() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        CountDownLatch seen = new CountDownLatch(1);
        AtomicReference<CompletableFuture<Integer>> future = new AtomicReference<>();
        CompletableFuture<Void> told = new CompletableFuture<>();
        Planted planted = new Planted("planted");
        prepare(engine, v, () -> {
            CompletableFuture<Integer> a = engine.op("a").reads(v).call(() -> {
                throw planted;
            });
            a.whenComplete((none, t) -> {
                try {
                    TestSupport.await(seen);
                    told.complete(null);
                } catch (Throwable wrong) {
                    told.completeExceptionally(wrong);
                }
            }).isDone();
            future.set(a);
        });
        CompletableFuture<Integer> a = Objects.requireNonNull(future.get());
        assertThrows(ExecutionException.class, a::get);
        OpFuture<Integer> own = (OpFuture<Integer>) a;
        assertEquals(planted, own.exceptionNow());
        assertThrows(IllegalStateException.class, own::resultNow);
        assertFalse(told.isDone());
        seen.countDown();
        await(told);
        assertEquals(planted, own.exceptionNow());
    }

    /**
     * Another thread completes the operation and calls the callback; by then the workers have the operations that
     * became ready.
     */
    @Test
    void aThreadThatCompletesTellsWhenAllElseIsDone() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        Var failed = engine.newVar("failed");
        CompletableFuture<Void> end = new CompletableFuture<>();
        Held held = Held.push(engine.op("held").mutates(v, failed)).untilStarted();
        CompletableFuture<Void> skipped = engine.op("skipped").reads(failed).submit(TestSupport.nothing());
        CompletableFuture<Void> late = engine.op("late").reads(failed).submit(TestSupport.nothing());
        CompletableFuture<Integer> next = engine.op("next").overwrites(v).call(() -> 7);
        skipped.whenComplete((none, t) -> {
            try {
                assertEquals(7, next.join());
                assertThrows(Exception.class, late::join);
                engine.close();
                end.complete(null);
            } catch (Throwable wrong) {
                end.completeExceptionally(wrong);
            }
        }).isCancelled();
        Task.start("completing", () -> held.fail(new Planted("planted"))).join();
        assertTrue(end.isDone(), "told before fail returns");
        end.get();
    }

    @Test
    void aCompletionInsideAnOperationTellsBeforeItReturns() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicReference<Completion> open = new AtomicReference<>();
        CountDownLatch started = new CountDownLatch(1);
        engine.op("async").mutates(v).pushAsync(done -> {
            open.set(done);
            started.countDown();
        });
        TestSupport.await(started);
        CompletableFuture<Integer> skipped = engine.op("skipped").reads(v).call(() -> 7);
        CompletableFuture<String> told = skipped.handle((none, t) -> t.getClass().getSimpleName());
        engine.op("completes").submit(() -> {
            Objects.requireNonNull(open.get()).fail(new Planted("planted"));
            assertEquals("OperationFailedException", told.getNow("not told"));
        }).get();
    }

    /** A worker calls the callback of a skipped operation, no matter which thread has skipped it. */
    @Test
    void aThreadThatLooksTellsNothingOfOthers() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("fails").mutates(v).push(TestSupport.failing(new Planted("planted")));
        assertThrows(OperationFailedException.class, () -> engine.waitToRead(v));
        for (int i = 0; i < 50; i++) {
            CompletableFuture<Thread> teller = new CompletableFuture<>();
            CountDownLatch registered = new CountDownLatch(1);
            engine.op("inside").submit(() -> {
                CompletableFuture<Void> skipped = engine.op("skipped").reads(v).submit(TestSupport.nothing());
                skipped.whenComplete((none, t) -> teller.complete(Thread.currentThread())).isDone();
                registered.countDown();
                engine.snapshot();
                engine.waitToWrite(engine.newVar("idle"));
            }).get();
            TestSupport.await(registered);
            teller.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void listenersAndRecordersMayWait() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var w = engine.newVar("w");
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        CountDownLatch told = new CountDownLatch(3);
        engine.record(op -> {
            if (op.outcome() == Recorder.Outcome.SKIPPED) {
                waitFor(engine, w, wrong);
                told.countDown();
            }
        });
        engine.trace(v, event -> {
            if (event.kind() == VarEvent.Kind.POISONED || event.kind() == VarEvent.Kind.READ_ENDED) {
                waitFor(engine, w, wrong);
                told.countDown();
            }
        });
        prepare(engine, v, () -> {
            engine.op("skipped").reads(v).push(TestSupport.nothing());
            for (int i = 0; i < 10; i++) {
                engine.op("next").mutates(w).push(TestSupport.nothing());
            }
            throw new Planted("planted");
        });
        assertThrows(OperationFailedException.class, engine::waitForAll);
        engine.waitForAll();
        TestSupport.await(told);
        assertTrue(wrong.isEmpty(), wrong::toString);
    }

    private static void waitFor(Engine engine, Var v, Queue<Throwable> wrong) {
        try {
            engine.waitToWrite(v);
        } catch (Throwable t) {
            wrong.add(t);
        }
    }

    @Test
    void asynchronousKindsMayBeWaitedForInCallbacks() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger told = new AtomicInteger();
        CompletableFuture<Void> end = new CompletableFuture<>();
        int n = 20;
        prepare(engine, v, () -> {
            CompletableFuture<?>[] futures = new CompletableFuture<?>[n];
            for (int i = 0; i < n; i++) {
                futures[i] = engine.op("async" + i).kind(OpKind.ASYNC).mutates(v).submit(TestSupport.nothing());
            }
            for (int i = 0; i < n; i++) {
                int next = Math.min(i + 1, n - 1);
                futures[i].thenRun(() -> {
                    futures[next].join();
                    if (told.incrementAndGet() == n) {
                        end.complete(null);
                    }
                }).isDone();
            }
        });
        finish(engine, end);
    }

    /** When close returns to a thread outside, all callbacks have run. */
    @Test
    void closeWaitsUntilWorkersHaveTold() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger told = new AtomicInteger();
        prepare(engine, v, () -> {
            for (int i = 0; i < 200; i++) {
                engine.op("op").reads(v).submit(TestSupport.nothing()).thenRun(told::incrementAndGet).isDone();
            }
        });
        engine.close();
        assertEquals(200, told.get());
    }

    private void aWorkerHoldsNothingWhenItTells(Rules rules) throws Exception {
        Engine engine = open(builder -> ((EngineBuilder) builder).rules(rules));
        Var v = engine.newVar("v");
        Queue<String> held = new ConcurrentLinkedQueue<>();
        CountDownLatch told = new CountDownLatch(20);
        prepare(engine, v, () -> {
            for (int i = 0; i < 20; i++) {
                CompletableFuture<Void> a = engine.op("a").reads(v).submit(TestSupport.nothing());
                engine.op("b").reads(v).push(TestSupport.nothing());
                a.thenRun(() -> {
                    if (Thread.currentThread() instanceof Worker worker
                            && (worker.taken != null || worker.batch.waiting() > 0)) {
                        held.add("holds " + worker.taken);
                    }
                    told.countDown();
                }).isDone();
            }
        });
        TestSupport.await(told);
        assertNull(held.peek());
    }

    @Test
    void aWorkerHoldsNothingWhenItTells() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        aWorkerHoldsNothingWhenItTells(new Rules());
    }

    @Test
    void theTestDetectsAWorkerThatHoldsAnOperation() {
        Assumptions.assumeTrue(kind.hasWorkers());
        assertThrows(AssertionError.class, () -> aWorkerHoldsNothingWhenItTells(new TellsLate()));
    }
}

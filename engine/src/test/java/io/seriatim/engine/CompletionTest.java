package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** An asynchronous operation is completed exactly once, and no exception loses a completion. */
@EveryEngine
class CompletionTest extends EngineContract {
    private final Planted planted = new Planted("planted");

    private static void assertUsedUp(Completion done) {
        TestSupport.assertThrowsMentioning(IllegalStateException.class, done::complete, "async");
        TestSupport.assertThrowsMentioning(IllegalStateException.class, () -> done.fail(new Planted("late")), "async");
    }

    @Test
    void aSecondCompletionThrowsToItsCallerAndChangesNothing() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Completion> kept = new CompletableFuture<>();
        engine.op("async").mutates(v).pushAsync(done -> {
            done.complete();
            kept.complete(done);
        });
        engine.waitToRead(v);
        assertUsedUp(kept.get());
        TestSupport.assertHealthy(engine, v);
        assertEquals(1, v.version());
        engine.waitForAll();
        assertEquals(1, engine.stats().completed());
    }

    @Test
    void aCompletionAfterAFailureChangesNothing() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Completion> kept = new CompletableFuture<>();
        engine.op("async").mutates(v).pushAsync(done -> {
            done.fail(planted);
            kept.complete(done);
        });
        engine.waitToWrite(v);
        assertUsedUp(kept.get());
        TestSupport.assertPoisoned(engine, v, "async", planted);
    }

    @Test
    void ofManyCompletionsAtOnceOneCounts() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger refused = new AtomicInteger();
        for (int round = 0; round < 100; round++) {
            CountDownLatch all = new CountDownLatch(3);
            engine.op("async").mutates(v).pushAsync(done -> {
                for (int i = 0; i < 3; i++) {
                    Task.start("completer", () -> {
                        try {
                            done.complete();
                        } catch (IllegalStateException e) {
                            refused.incrementAndGet();
                        }
                        all.countDown();
                    });
                }
            });
            engine.waitToRead(v);
            TestSupport.await(all);
        }
        assertEquals(200, refused.get());
        assertEquals(100, v.version());
    }

    @Test
    void aBodyThatThrowsBeforeItsCompletionHasFailed() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Completion> kept = new CompletableFuture<>();
        engine.op("async").mutates(v).pushAsync(done -> {
            kept.complete(done);
            throw planted;
        });
        TestSupport.assertPoisoned(engine, v, "async", planted);
        assertUsedUp(kept.get());
    }

    @Test
    void aBodyThatThrowsAfterItsCompletionHasNotFailed() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("async").mutates(v).pushAsync(done -> {
            done.complete();
            throw planted;
        });
        TestSupport.assertHealthy(engine, v);
        engine.close();
        assertEquals(List.of(planted), List.copyOf(unhandled(engine)));
        engine.waitForAll();
    }

    @Test
    void aSecondCompletionInsideTheBodyIsTheBodysThrow() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<IllegalStateException> told = new CompletableFuture<>();
        engine.op("async").mutates(v).pushAsync(done -> {
            done.complete();
            told.complete(assertThrows(IllegalStateException.class, done::complete));
        });
        TestSupport.assertHealthy(engine, v);
        TestSupport.assertMentions(told.get(), "async");
    }

    @Test
    void failNeedsACause() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("async").mutates(v).pushAsync(done -> {
            TestSupport.assertThrowsMentioning(NullPointerException.class, () -> done.fail(TestSupport.nil()), "cause");
            done.complete();
        });
        TestSupport.assertHealthy(engine, v);
    }

    @Test
    void errorsEndNoWorkerAndLoseNoCompletion() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        for (Error error : List.of(new OutOfMemoryError("planted"), new StackOverflowError("planted"),
                new AssertionError("planted"))) {
            for (int i = 0; i < 10; i++) {
                engine.op("sync").overwrites(v).push(TestSupport.failing(error));
                engine.op("async").overwrites(v).pushAsync(done -> {
                    throw error;
                });
                engine.op("copy").overwrites(v).kind(OpKind.COPY_IN).push(TestSupport.failing(error));
                engine.op("inline").overwrites(v).kind(OpKind.ASYNC).push(TestSupport.failing(error));
            }
        }
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        assertTrue(thrown.getCause() instanceof OutOfMemoryError);
        assertEquals(120, engine.stats().failed());
        engine.op("well").overwrites(v).push(TestSupport.nothing());
        TestSupport.assertHealthy(engine, v);
    }

    @Test
    void aCompletionByAnotherThreadReleasesTheSuccessors() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        int[] plain = {0};
        for (int i = 0; i < 200; i++) {
            engine.op("async").mutates(v).pushAsync(done -> Task.start("completer", () -> {
                plain[0]++;
                done.complete();
            }));
            engine.op("sync").mutates(v).push(() -> plain[0]++);
        }
        engine.waitToRead(v);
        assertEquals(400, plain[0]);
    }

    @Test
    void aFailureByAnotherThread() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("async").mutates(v).pushAsync(done -> Task.start("completer", () -> done.fail(planted)));
        TestSupport.assertPoisoned(engine, v, "async", planted);
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        assertSame(planted, thrown.getCause());
    }
}

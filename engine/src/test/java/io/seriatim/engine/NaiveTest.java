package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The naive engine runs each operation in the thread that pushes it. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NaiveTest {
    private final OpenEngines engines = new OpenEngines();
    private final Engine engine = engines.open(Engine.builder().naive());
    private final List<String> order = new ArrayList<>();

    @AfterEach
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }

    @Test
    void aPushReturnsWhenItsOperationHasCompleted() {
        Var v = engine.newVar("v");
        Thread[] runner = new Thread[1];
        engine.op("who").mutates(v).push(() -> runner[0] = Thread.currentThread());
        assertSame(Thread.currentThread(), runner[0]);
        assertEquals(1, v.version());
        assertTrue(engine.op("done").submit(TestSupport.nothing()).isDone());
        assertEquals(0, engine.stats().workers());
    }

    @Test
    void everyKindAndLaneRunsInThePusher() {
        for (OpKind kind : OpKind.values()) {
            for (Lane lane : List.of(Lane.CPU, Lane.of("cuda:0"), new Lane("sim:0", Lane.Queue.COPY))) {
                Thread[] runner = new Thread[1];
                engine.op("who").kind(kind).on(lane).push(() -> runner[0] = Thread.currentThread());
                assertSame(Thread.currentThread(), runner[0], () -> kind + " on " + lane);
            }
        }
    }

    @Test
    void whatIsPushedInsideRunsAfterTheOperation() throws Exception {
        engine.op("outer").push(() -> {
            engine.op("b").push(() -> order.add("b"));
            engine.op("c").push(() -> order.add("c"));
            order.add("outer");
        });
        engine.waitForAll();
        assertEquals(List.of("outer", "b", "c"), order);
    }

    @Test
    void orNestedWhenAWaitInsideNeedsIt() throws Exception {
        Var v = engine.newVar("v");
        engine.op("outer").push(() -> {
            engine.op("needed").mutates(v).push(() -> order.add("needed"));
            assertTrue(order.isEmpty());
            engine.waitToRead(v);
            order.add("outer");
        });
        engine.waitForAll();
        assertEquals(List.of("needed", "outer"), order);
    }

    @Test
    void aPushNeverThrowsWhatABodyThrew() {
        Var v = engine.newVar("v");
        Planted planted = new Planted("planted");
        engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        TestSupport.assertPoisoned(engine, v, "fails", planted);
        CompletableFuture<Void> skipped = engine.op("skipped").reads(v).submit(() -> order.add("never"));
        assertTrue(skipped.isCompletedExceptionally());
        assertThrows(OperationFailedException.class, engine::waitForAll);
        assertTrue(order.isEmpty());
    }

    @Test
    void aPushWaitsForAnAsynchronousCompletion() throws Exception {
        CompletableFuture<Completion> started = new CompletableFuture<>();
        Task pusher = Task.start("pusher", () -> engine.op("async").pushAsync(started::complete));
        Completion done = started.get(60, TimeUnit.SECONDS);
        TestSupport.untilParked(pusher.thread);
        assertFalse(pusher.isDone());
        done.complete();
        pusher.join();
    }

    @Test
    void aPushWaitsForWhatAnotherThreadRuns() throws Exception {
        Var v = engine.newVar("v");
        CompletableFuture<Completion> started = new CompletableFuture<>();
        Task first = Task.start("first", () -> engine.op("first").mutates(v).pushAsync(started::complete));
        Completion done = started.get(60, TimeUnit.SECONDS);
        Task second = Task.start("second", () -> engine.op("second").mutates(v).push(() -> order.add("second")));
        TestSupport.untilParked(second.thread);
        engine.op("unrelated").push(() -> order.add("unrelated"));
        done.complete();
        first.join();
        second.join();
        assertEquals(List.of("unrelated", "second"), order);
    }

    @Test
    void anInterruptedPushStillWaitsAndKeepsTheFlag() throws Exception {
        CompletableFuture<Completion> started = new CompletableFuture<>();
        Task pusher = Task.start("pusher", () -> {
            engine.op("async").pushAsync(started::complete);
            assertTrue(Thread.interrupted());
        });
        Completion done = started.get(60, TimeUnit.SECONDS);
        TestSupport.untilParked(pusher.thread);
        pusher.thread.interrupt();
        TestSupport.untilParked(pusher.thread);
        assertFalse(pusher.isDone());
        done.complete();
        pusher.join();
    }
}

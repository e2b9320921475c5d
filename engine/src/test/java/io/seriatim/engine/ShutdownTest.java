package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** shutdownNow fails pending operations, interrupts running ones, lets deletes run, and does not wait. */
@EveryEngineWithWorkers
@Tag("slow")
class ShutdownTest extends EngineContract {
    private final AtomicInteger ran = new AtomicInteger();
    private final Body counts = ran::incrementAndGet;

    private static void assertCancelled(CompletableFuture<?> future) {
        assertThrows(CancellationException.class, () -> future.get(60, TimeUnit.SECONDS));
        assertThrows(CancellationException.class, future::join);
        assertTrue(future.isCancelled());
    }

    @Test
    void anIdleEngine() {
        Engine engine = open();
        engine.shutdownNow();
        engine.shutdownNow();
        TestSupport.assertThrowsMentioning(IllegalStateException.class, () -> engine.op("late").push(counts), "closed",
                engine.snapshot().engine());
        engine.close();
        engine.shutdownNow();
    }

    @Test
    void aClosedEngine() {
        Engine engine = open();
        engine.op("op").push(counts);
        engine.close();
        engine.shutdownNow();
        assertEquals(1, ran.get());
        assertEquals(0, engine.stats().cancelled());
    }

    @Test
    void runningBodiesAreInterrupted() throws Exception {
        Engine engine = open();
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        engine.op("running").push(() -> {
            running.countDown();
            try {
                never.await();
            } catch (InterruptedException e) {
                interrupted.complete(true);
            }
        });
        TestSupport.await(running);
        engine.shutdownNow();
        assertTrue(interrupted.get(60, TimeUnit.SECONDS));
    }

    @Test
    void itDoesNotWaitForABodyThatIgnoresTheInterrupt() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CountDownLatch running = new CountDownLatch(1);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger deleted = new AtomicInteger();
        CompletableFuture<Void> stubborn = engine.op("stubborn").mutates(v).submit(() -> {
            running.countDown();
            while (!stop.get()) {
                Thread.onSpinWait();
            }
        });
        TestSupport.await(running);
        CompletableFuture<Void> queued = engine.op("queued").mutates(v).submit(counts);
        CompletableFuture<Integer> even = engine.op("even").mutates(v).evenIfFailed().call(() -> 1);
        engine.delete(v, deleted::incrementAndGet);
        engine.shutdownNow();
        assertCancelled(queued);
        assertCancelled(even);
        assertFalse(stubborn.isDone());
        assertEquals(0, deleted.get(), "the delete waits for its predecessors");
        stop.set(true);
        engine.close();
        stubborn.get();
        assertEquals(0, ran.get());
        assertEquals(1, deleted.get());
        assertEquals(2, engine.stats().cancelled());
    }

    @Test
    void queuedOperationsFailAndPoison() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        engine.op("queued").mutates(v).push(counts);
        engine.op("queued too").mutates(v).evenIfFailed().push(counts);
        engine.shutdownNow();
        OperationFailedException thrown = assertThrows(OperationFailedException.class, () -> engine.waitToRead(v));
        assertInstanceOf(CancellationException.class, thrown.getCause());
        engine.close();
        assertEquals(0, ran.get());
        assertEquals(3, v.version());
        held.release();
    }

    @Test
    void aLateFirstCompletionIsIgnoredAndASecondIsNot() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Completion> started = new CompletableFuture<>();
        engine.op("started").mutates(v).pushAsync(started::complete);
        Completion done = started.get(60, TimeUnit.SECONDS);
        engine.shutdownNow();
        engine.close();
        done.complete();
        TestSupport.assertThrowsMentioning(IllegalStateException.class, done::complete, "started");
        assertThrows(OperationFailedException.class, () -> engine.waitToRead(v));
        assertEquals(1, v.version());
        assertEquals(1, engine.stats().completed());
    }

    @Test
    void deletesStillRunInTheirOrder() throws Exception {
        Engine engine = open();
        Var[] v = TestSupport.vars(engine, 20);
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        AtomicInteger deleted = new AtomicInteger();
        for (Var each : v) {
            engine.op("queued").mutates(each).push(counts);
            engine.delete(each, deleted::incrementAndGet);
        }
        engine.shutdownNow();
        engine.close();
        assertEquals(20, deleted.get());
        assertEquals(0, ran.get());
        held.release();
    }

    @Test
    void blockedPushersAreRefused() throws Exception {
        Engine engine = open(builder -> builder.maxPending(10));
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        Task pusher = Task.start("pusher", () -> {
            IllegalStateException refused = assertThrows(IllegalStateException.class, () -> {
                while (true) {
                    engine.op("more").mutates(v).push(counts);
                }
            });
            TestSupport.assertMentions(refused, "more", "closed");
        });
        TestSupport.eventually(() -> engine.stats().pending() >= 10, () -> "pending " + engine.stats());
        TestSupport.untilParked(pusher.thread);
        engine.shutdownNow();
        pusher.join();
        held.release();
    }

    @Test
    void waitingThreadsAreReleased() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        List<Task> waiting = List.of(
                Task.start("reads", () -> assertThrows(OperationFailedException.class, () -> engine.waitToRead(v))),
                Task.start("writes", () -> engine.waitToWrite(v)), Task.start("closes", engine::close),
                Task.start("all", () -> assertThrows(OperationFailedException.class, engine::waitForAll)));
        for (Task task : waiting) {
            TestSupport.untilParked(task.thread);
        }
        engine.shutdownNow();
        for (Task task : waiting) {
            task.join();
        }
        held.release();
    }

    @Test
    void insideAnOwnOperation() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Void> closer = engine.op("shuts down").mutates(v).submit(engine::shutdownNow);
        TestSupport.eventually(closer::isDone, () -> "shutdownNow inside an operation hangs");
        engine.close();
        assertEquals(1, v.version());
    }

    @Test
    void insideAnOperationThatWaits() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CountDownLatch waiting = new CountDownLatch(1);
        CompletableFuture<Throwable> met = new CompletableFuture<>();
        engine.op("waits").push(() -> {
            waiting.countDown();
            try {
                engine.waitToRead(v);
                met.complete(new AssertionError("no failure"));
            } catch (InterruptedException | OperationFailedException e) {
                met.complete(e);
            }
        });
        TestSupport.await(waiting);
        engine.shutdownNow();
        Throwable t = met.get(60, TimeUnit.SECONDS);
        assertFalse(t instanceof AssertionError, () -> "met " + t);
        engine.close();
        held.release();
    }

    @Test
    void whileManyPushAndClose() throws Exception {
        for (int round = 0; round < 20; round++) {
            Engine engine = open();
            Var v = engine.newVar("v");
            CountDownLatch going = new CountDownLatch(100);
            Task[] pushers = new Task[3];
            for (int t = 0; t < pushers.length; t++) {
                pushers[t] = Task.start("pusher", () -> {
                    IllegalStateException refused = assertThrows(IllegalStateException.class, () -> {
                        while (true) {
                            engine.op("op").mutates(v).push(counts);
                            going.countDown();
                        }
                    });
                    TestSupport.assertMentions(refused, "closed");
                });
            }
            TestSupport.await(going);
            Task closer = Task.start("closer", engine::close);
            engine.shutdownNow();
            closer.join();
            for (Task pusher : pushers) {
                pusher.join();
            }
            EngineStats stats = engine.stats();
            assertEquals(stats.pushed(), v.version());
            assertEquals(stats.pushed(), stats.completed());
        }
        assertTrue(ran.get() > 0);
    }

    /** What a body throws after the shutdown, made from what its wait threw. */
    private static Map<String, Function<Exception, Exception>> ofStoppedBodies() {
        Map<String, Function<Exception, Exception>> made = new LinkedHashMap<>();
        made.put("the interrupt", e -> e);
        made.put("wrapped", IllegalArgumentException::new);
        made.put("wrapped twice", e -> new UncheckedIOException(new IOException(new RuntimeException(e))));
        made.put("of a channel", e -> new ClosedByInterruptException());
        made.put("of a stream", e -> new InterruptedIOException("stopped"));
        made.put("of a future", e -> new CompletionException(new CancellationException("stopped")));
        return made;
    }

    /** Shuts the engine down while a body waits, which then passes the interrupt to {@code ends}. */
    private static void stopsAtShutdown(Engine engine, Stopped ends) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        engine.op("stopped").push(() -> {
            running.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                ends.end(e);
            }
        });
        TestSupport.await(running);
        engine.shutdownNow();
    }

    /** The end of a body that was interrupted. */
    private interface Stopped {
        void end(InterruptedException interrupt) throws Exception;
    }

    @Test
    void failuresOfStoppedBodiesAreNotUnhandled() throws Exception {
        for (Map.Entry<String, Function<Exception, Exception>> c : ofStoppedBodies().entrySet()) {
            Engine engine = open();
            stopsAtShutdown(engine, e -> {
                throw c.getValue().apply(e);
            });
            engine.close();
            assertEquals(List.of(), List.copyOf(unhandled(engine)), c.getKey());
        }
    }

    @Test
    void aBodyThatCannotPushAfterTheShutdownIsNotUnhandled() throws Exception {
        Engine engine = open();
        stopsAtShutdown(engine, e -> engine.op("late").push(counts));
        engine.close();
        assertEquals(List.of(), List.copyOf(unhandled(engine)));
        assertEquals(0, ran.get());
    }

    @Test
    void otherFailuresAfterTheShutdownAreUnhandled() throws Exception {
        Engine engine = open();
        Planted planted = new Planted("broken");
        stopsAtShutdown(engine, e -> {
            throw planted;
        });
        engine.close();
        assertEquals(List.of(planted), unhandled(engine).stream().map(Throwable::getCause).toList());
    }
}

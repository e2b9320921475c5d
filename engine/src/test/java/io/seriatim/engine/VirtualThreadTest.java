package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Virtual threads may push and wait: thousands wait at the same time on a few carrier threads. Needs Java 21. */
@EveryEngine
class VirtualThreadTest extends EngineContract {
    private static final int THREADS = 1_000;

    private static CompletableFuture<Void> startVirtual(Body body) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Runnable run = () -> {
            try {
                body.run();
                end.complete(null);
            } catch (Throwable t) {
                end.completeExceptionally(t);
            }
        };
        try {
            MethodHandle start = MethodHandles.publicLookup().findStatic(Thread.class, "startVirtualThread",
                    MethodType.methodType(Thread.class, Runnable.class));
            Thread thread = (Thread) start.invokeExact(run);
            assertEquals(true, thread.isDaemon());
        } catch (Throwable t) {
            throw new LinkageError("no virtual threads", t);
        }
        return end;
    }

    @Test
    void virtualThreadsPushAndWait() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21);
        Engine engine = open(builder -> builder.maxPending(64));
        Var v = engine.newVar("v");
        int[] plain = {0};
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            ends.add(startVirtual(() -> {
                engine.op("add").mutates(v).push(() -> plain[0]++);
                engine.waitToRead(v);
                engine.op("add").mutates(v).submit(() -> plain[0]++).get();
            }));
        }
        for (CompletableFuture<Void> end : ends) {
            end.get(60, TimeUnit.SECONDS);
        }
        engine.waitForAll();
        assertEquals(2 * THREADS, plain[0]);
    }

    @Test
    void allOfThemWaitAtOnceWithoutACarrier() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21 && kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CountDownLatch waiting = new CountDownLatch(THREADS);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            ends.add(startVirtual(() -> {
                waiting.countDown();
                engine.waitToRead(v);
            }));
        }
        // If a wait pinned its carrier thread, not all threads would reach this point.
        TestSupport.await(waiting);
        held.release();
        for (CompletableFuture<Void> end : ends) {
            end.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void anOperationMayBeCompletedByAVirtualThread() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21);
        Engine engine = open();
        Var v = engine.newVar("v");
        for (int i = 0; i < 200; i++) {
            engine.op("async").mutates(v).pushAsync(done -> startVirtual(done::complete).isDone());
        }
        engine.waitToRead(v);
        assertEquals(200, v.version());
    }
}

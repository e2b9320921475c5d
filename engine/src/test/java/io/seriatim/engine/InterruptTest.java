package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * The interrupt flag of a thread belongs to the code that it runs: what one body or callback leaves is not seen by the
 * next, and none sees the flag of the thread that pushes, completes or closes, which keeps it.
 */
@EveryEngine
class InterruptTest extends EngineContract {
    private final Queue<String> seen = new ConcurrentLinkedQueue<>();
    private final AtomicInteger ran = new AtomicInteger();

    /** User code: notes whether it finds the flag set, and leaves it set. */
    private void code(String what) {
        if (Thread.interrupted()) {
            seen.add(what);
        }
        ran.incrementAndGet();
        Thread.currentThread().interrupt();
    }

    private Body body(String what) {
        return () -> code(what);
    }

    /** The ways in which an engine runs code of a user. */
    private enum Way {
        PUSH, ASYNC_BODY, LATE_COMPLETION, DELETE, DELETE_ON_LANE, TRAMPOLINE, ASYNC_KIND_AND_BODY,
        // Callbacks, nested bodies, and bodies on other paths.
        DEPENDENT, FAILURE, NESTED, NESTED_WAIT, COPY, PREPARED, TRACE
    }

    private void push(Engine engine, Way way, Var v, Var other) {
        String name = way.toString();
        switch (way) {
            case PUSH -> engine.op(name).mutates(v).push(body(name));
            case ASYNC_BODY -> engine.op(name).mutates(v).pushAsync(done -> {
                code(name);
                done.complete();
            });
            case LATE_COMPLETION -> engine.op(name).mutates(v).pushAsync(done -> {
                code(name);
                Task.start("completes", () -> {
                    Thread.currentThread().interrupt();
                    done.complete();
                    assertTrue(Thread.interrupted(), "the completing thread keeps its flag");
                });
            });
            case DELETE -> {
                Var temporary = engine.newVar("temporary");
                engine.op("before").reads(v).mutates(temporary).push(body(name));
                engine.delete(temporary, () -> code(name));
            }
            case DELETE_ON_LANE -> engine.delete(engine.newVar("temporary"), Lane.CPU, body(name));
            case TRAMPOLINE -> {
                for (int i = 0; i < 3; i++) {
                    engine.op(name).kind(OpKind.ASYNC).mutates(v).push(body(name));
                }
            }
            case ASYNC_KIND_AND_BODY -> engine.op(name).kind(OpKind.ASYNC).mutates(v).pushAsync(done -> {
                code(name);
                done.complete();
            });
            // Inside an operation that delays it, so that the stage is there before the end.
            case DEPENDENT -> engine.op("gate").mutates(v).push(() -> assertFalse(
                    engine.op(name).mutates(v).submit(body(name)).thenRun(() -> code(name)).isCancelled()));
            case FAILURE -> engine.op(name).overwrites(engine.newVar("failing")).push(() -> {
                code(name);
                throw new Planted(name);
            });
            case NESTED -> engine.op(name).mutates(v).push(() -> {
                code(name);
                assertTrue(Thread.currentThread().isInterrupted());
                engine.op("inner " + name).kind(OpKind.ASYNC).push(body("inner " + name));
                assertTrue(Thread.currentThread().isInterrupted(), "it keeps its own flag");
                engine.op("later " + name).mutates(v).push(body("later " + name));
            });
            case NESTED_WAIT -> engine.op(name).mutates(v).push(() -> {
                engine.op("inner " + name).mutates(other).push(body("inner " + name));
                engine.waitToRead(other);
                engine.op("inner " + name).mutates(other).submit(body("inner " + name)).join();
                code(name);
            });
            case COPY -> engine.op(name).kind(OpKind.COPY_IN).mutates(v).push(body(name));
            case PREPARED -> engine.op(name).mutates(v).prepare(body(name)).push(1);
            case TRACE -> engine.trace(v, event -> code(name));
        }
    }

    @Test
    void noCodeSeesTheInterruptOfOtherCode() throws Exception {
        long seeds = TestSupport.scaled(500, 12);
        for (long seed = EngineUnderTest.SEED; seed < EngineUnderTest.SEED + seeds; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            boolean records = random.nextInt(3) == 0;
            Engine engine = open(builder -> records ? builder.recorder(op -> code("recorder")) : builder);
            Var[] vars = TestSupport.vars(engine, 3);
            Var other = engine.newVar("other");
            for (int i = 0; i < 40; i++) {
                Way way = Way.values()[random.nextInt(Way.values().length)];
                Var v = vars[random.nextInt(vars.length)];
                boolean flag = random.nextInt(4) == 0;
                if (flag) {
                    Thread.currentThread().interrupt();
                }
                push(engine, way, v, other);
                assertEquals(flag, Thread.interrupted(), way + " with seed " + seed);
                if (random.nextInt(8) == 0) {
                    engine.waitToWrite(v);
                }
            }
            try {
                engine.waitUntilIdle();
            } catch (OperationFailedException e) {
                TestSupport.assertMentions(e, "FAILURE");
            }
            assertFalse(Thread.interrupted(), "seed " + seed);
            engine.close();
            assertFalse(Thread.interrupted(), "seed " + seed);
            assertEquals(List.of(), List.copyOf(seen), "seed " + seed);
        }
        assertTrue(ran.get() > 40 * seeds);
    }

    @Test
    void handlersAndWorkerStatesToo() throws Exception {
        AtomicInteger closed = new AtomicInteger();
        Queue<Throwable> told = new ConcurrentLinkedQueue<>();
        try (Engine engine = kind.builder().onUnhandled(t -> {
            told.add(t);
            code("handler");
        }).workerState(Lane.CPU, () -> new State("first", closed)).build()) {
            Var v = engine.newVar("v");
            for (int i = 0; i < 3; i++) {
                engine.op("fails").push(() -> {
                    RunContext.current().state(State.class);
                    code("fails");
                    throw new Planted("planted");
                });
                engine.op("completes and throws").mutates(v).pushAsync(done -> {
                    done.complete();
                    code("completes and throws");
                    throw new Planted("late");
                });
            }
        }
        assertFalse(Thread.interrupted());
        assertEquals(6, told.size(), told::toString);
        assertTrue(closed.get() >= 1);
        assertEquals(List.of(), List.copyOf(seen));
    }

    private final class State implements AutoCloseable {
        private final String name;
        private final AtomicInteger closed;

        State(String name, AtomicInteger closed) {
            this.name = name;
            this.closed = closed;
        }

        @Override
        public void close() {
            closed.incrementAndGet();
            code("close of state " + name);
        }
    }

    /** A body that blocks is not disturbed by the one before it. */
    @Test
    void aBodyThatBlocksAfterAnInterruptedOne() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicBoolean slept = new AtomicBoolean();
        engine.op("interrupts").mutates(v).push(() -> Thread.currentThread().interrupt());
        engine.op("sleeps").mutates(v).push(() -> {
            TimeUnit.MILLISECONDS.sleep(1);
            slept.set(true);
        });
        engine.waitToRead(v);
        engine.waitForAll();
        assertTrue(slept.get());
        assertFalse(Thread.interrupted());
    }

    /** An interrupted thread that waits gets the exception at once, and runs no bodies. */
    @Test
    void anInterruptedThreadDoesNotWait() throws Exception {
        Assumptions.assumeTrue(kind != EngineUnderTest.NAIVE, "its pushes wait");
        Engine engine = open();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v));
        CompletableFuture<Void> future = engine.op("behind").mutates(v).submit(body("behind"));
        List<Body> waits = List.of(() -> engine.waitToRead(v), () -> engine.waitToWrite(v), engine::waitForAll,
                engine::waitUntilIdle, future::get, () -> future.get(1, TimeUnit.DAYS), () -> engine.await(future));
        for (Body wait : waits) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, wait::run);
            assertFalse(Thread.interrupted(), "the exception takes the flag");
        }
        assertEquals(0, ran.get());
        held.release();
        Thread.currentThread().interrupt();
        future.join();
        assertTrue(Thread.interrupted(), "join keeps the flag");
        assertEquals(List.of(), List.copyOf(seen));
    }

    /** The shutdown interrupts the running body, and also the operation that waits for it on the same thread. */
    @Test
    void aShutdownInterruptsWhatRunsAndNotTheDeletes() throws Exception {
        for (int round = 0; round < TestSupport.scaled(300, 10); round++) {
            Engine engine = open();
            Var v = engine.newVar("v");
            Var inner = engine.newVar("inner");
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch both = new CountDownLatch(2);
            AtomicInteger deleted = new AtomicInteger();
            Task pusher = Task.start("pusher", () -> {
                engine.op("outer").mutates(v).push(() -> {
                    engine.op("inner").mutates(inner).push(() -> {
                        running.countDown();
                        assertThrows(InterruptedException.class, new CountDownLatch(1)::await);
                        both.countDown();
                    });
                    try {
                        engine.waitToRead(inner);
                        assertTrue(Thread.interrupted(), "the inner operation has ended first");
                    } catch (InterruptedException e) {
                        assertTrue(engine.stats().pending() > 0, "it was interrupted before the inner one had ended");
                    }
                    both.countDown();
                });
                if (kind == EngineUnderTest.SHUFFLED) {
                    engine.waitForAll();
                }
            });
            TestSupport.await(running);
            for (int i = 0; i < 3; i++) {
                engine.delete(engine.newVar("temporary"), () -> {
                    deleted.incrementAndGet();
                    code("delete");
                });
            }
            engine.shutdownNow();
            TestSupport.await(both);
            try {
                pusher.join();
            } catch (ExecutionException e) {
                assertTrue(e.getCause() instanceof OperationFailedException, e::toString);
            }
            engine.close();
            assertEquals(3, deleted.get());
            assertEquals(List.of(), List.copyOf(seen));
        }
    }
}

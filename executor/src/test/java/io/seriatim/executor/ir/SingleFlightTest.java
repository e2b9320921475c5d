package io.seriatim.executor.ir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread computes, the others wait: values, failures, interrupts and computations that need themselves. */
@Timeout(60)
class SingleFlightTest {
    private final SingleFlight<String, Object> flights = new SingleFlight<>();
    private final Map<String, Object> cache = new ConcurrentHashMap<>();
    private final AtomicInteger computed = new AtomicInteger();

    /** A computation that has started and that the test lets end. */
    private final class Computation {
        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);
        private final FutureTask<Object> owner;
        private final Thread thread;

        Computation(String key, Supplier<Object> end) throws InterruptedException {
            owner = new FutureTask<>(() -> get(key, () -> {
                started.countDown();
                awaitQuietly(released);
                return end.get();
            }));
            thread = Thread.ofPlatform().start(owner);
            started.await();
        }

        Object end() throws Exception {
            released.countDown();
            return owner.get();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private Object get(String key, Supplier<Object> make) throws InterruptedException {
        return flights.get(key, () -> cache.get(key), () -> {
            computed.incrementAndGet();
            Object value = make.get();
            cache.put(key, value);
            return value;
        });
    }

    /** A thread that waits for a computation of the key when this returns. */
    private static FutureTask<Object> waiting(Callable<Object> get) {
        FutureTask<Object> task = new FutureTask<>(get);
        Thread thread = Thread.ofPlatform().start(task);
        while (thread.getState() != Thread.State.WAITING && !task.isDone()) {
            Thread.onSpinWait();
        }
        return task;
    }

    private static Throwable failure(FutureTask<Object> task) {
        return Objects.requireNonNull(assertThrows(ExecutionException.class, task::get).getCause());
    }

    @Test
    void othersWaitForTheOneThatComputes() throws Exception {
        Object value = new Object();
        Computation computation = new Computation("a", () -> value);
        FutureTask<Object> second = waiting(() -> get("a", Object::new));
        assertEquals("b", get("b", () -> "b"), "another key does not wait");
        assertSame(value, computation.end());
        assertSame(value, second.get());
        assertSame(value, get("a", Object::new));
        assertEquals(2, computed.get());
    }

    @Test
    void aFailureGoesToAllThatWaitAndIsNotKept() throws Exception {
        IllegalArgumentException failure = new IllegalArgumentException("no such variable");
        Computation computation = new Computation("a", () -> {
            throw failure;
        });
        FutureTask<Object> second = waiting(() -> get("a", Object::new));
        FutureTask<Object> third = waiting(() -> get("a", Object::new));
        assertSame(failure, assertThrows(ExecutionException.class, computation::end).getCause());
        assertSame(failure, failure(second));
        assertSame(failure, failure(third));
        assertEquals(1, computed.get());
        assertEquals("again", get("a", () -> "again"));
    }

    @Test
    void anErrorOfTheVirtualMachineIsTheOwnersOwn() throws Exception {
        Computation computation = new Computation("a", () -> {
            throw new StackOverflowError("planted");
        });
        FutureTask<Object> second = waiting(() -> get("a", () -> "second"));
        assertInstanceOf(StackOverflowError.class,
                assertThrows(ExecutionException.class, computation::end).getCause());
        assertEquals("second", second.get());
    }

    @Test
    void anInterruptOfTheOwnerDoesNotFailTheOthers() throws Exception {
        Computation computation = new Computation("a", () -> "not reached");
        FutureTask<Object> second = waiting(() -> get("a", () -> "second"));
        computation.thread.interrupt();
        assertInstanceOf(IllegalStateException.class, failure(computation.owner));
        assertEquals("second", second.get());
    }

    @Test
    void anInterruptedWaitEndsAndTheComputationGoesOn() throws Exception {
        Computation computation = new Computation("a", () -> "first");
        FutureTask<Object> second = new FutureTask<>(() -> get("a", Object::new));
        Thread thread = Thread.ofPlatform().unstarted(second);
        thread.start();
        thread.interrupt();
        assertInstanceOf(InterruptedException.class, failure(second));
        assertEquals("first", computation.end());
    }

    @Test
    void aComputationThatNeedsItselfIsRefused() throws Exception {
        IllegalStateException refused = assertThrows(IllegalStateException.class,
                () -> get("a", () -> again("a")));
        assertTrue(String.valueOf(refused.getMessage()).contains("computation of a requires its own result"),
                refused::toString);
        assertEquals("later", get("a", () -> "later"));
    }

    private Object again(String key) {
        try {
            return get(key, Object::new);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Each computes what the other one needs. */
    @RepeatedTest(20)
    void computationsThatNeedEachOtherAreRefused() throws Exception {
        CyclicBarrier both = new CyclicBarrier(2);
        List<FutureTask<Object>> tasks = new ArrayList<>();
        for (String key : List.of("a", "b")) {
            String other = key.equals("a") ? "b" : "a";
            FutureTask<Object> task = new FutureTask<>(() -> get(key, () -> {
                try {
                    both.await();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                return again(other);
            }));
            tasks.add(task);
            Thread.ofPlatform().start(task);
        }
        for (FutureTask<Object> task : tasks) {
            assertInstanceOf(IllegalStateException.class, failure(task));
        }
    }

    /** Of an engine with one worker: the computation needs the worker that waits for it. */
    @Test
    void anotherThreadTakesThePlaceOfAWorkerThatWaits() throws Exception {
        try (Engine engine = Engine.builder().workers(Lane.CPU, 1).build()) {
            CountDownLatch done = new CountDownLatch(1);
            Computation computation = new Computation("a", () -> {
                awaitQuietly(done);
                return "first";
            });
            CountDownLatch waits = new CountDownLatch(1);
            engine.op("waits").push(() -> {
                waits.countDown();
                assertEquals("first", again("a"));
            });
            waits.await();
            engine.op("needed").push(done::countDown);
            assertTrue(done.await(30, TimeUnit.SECONDS), "the worker is taken");
            assertEquals("first", computation.end());
            engine.waitForAll();
        }
    }

    @RepeatedTest(20)
    void manyThreadsComputeEachKeyOnce() throws Exception {
        CyclicBarrier together = new CyclicBarrier(4);
        List<FutureTask<Object>> tasks = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            FutureTask<Object> task = new FutureTask<>(() -> {
                together.await();
                for (int i = 0; i < 200; i++) {
                    String key = "key " + i;
                    assertEquals(key, get(key, () -> key));
                }
                return "done";
            });
            tasks.add(task);
            Thread.ofPlatform().start(task);
        }
        for (FutureTask<Object> task : tasks) {
            assertEquals("done", task.get());
        }
        assertEquals(200, computed.get());
    }
}

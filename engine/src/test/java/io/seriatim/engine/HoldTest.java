package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A shutdown, a snapshot and a search for a cycle of waits look at a bounded number of operations each time they hold
 * the tracker lock, however many are pending. Operations are counted, so the machine's speed does not matter.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HoldTest {
    private static final int PENDING = 5_000;
    /** Of a shutdown. */
    private static final int CANCELLED = 256;
    /** Of a walk whose time is over whenever it looks at the clock. */
    private static final int LOOKED_AT = 32;

    /** Where the operations stand that are pending. */
    enum Pending {
        /** In the queue of their lane. */
        READY,
        /** Side by side behind one that has not ended. */
        WAITING,
        /** One behind the other, behind one that has not ended. */
        CHAINED
    }

    /** Counts the operations that a thread looks at between two releases of the tracker lock. */
    private static class Counting extends Rules {
        /** A walk tells when it releases the lock and goes on, not when it is over: another thread may follow it. */
        private final ThreadLocal<int[]> inHold = ThreadLocal.withInitial(() -> new int[1]);
        private final AtomicInteger most = new AtomicInteger();
        private final AtomicInteger all = new AtomicInteger();
        private final AtomicInteger kept = new AtomicInteger();
        private volatile @Nullable EngineCore core;

        private void start(Engine engine) {
            inHold.get()[0] = 0;
            most.set(0);
            all.set(0);
            kept.set(0);
            core = TestSupport.coreOf(engine);
        }

        @Override
        public void visited() {
            all.incrementAndGet();
            int held = ++inHold.get()[0];
            most.accumulateAndGet(held, Math::max);
        }

        @Override
        public void paused() {
            inHold.get()[0] = 0;
            EngineCore c = core;
            if (c != null && kept.get() == 0 && !isFree(c)) {
                kept.incrementAndGet();
            }
        }

        /** Whether the lock can be had: other threads hold it for moments only. */
        private static boolean isFree(EngineCore core) {
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
            while (!core.lock.tryEnter()) {
                if (System.nanoTime() - until > 0) {
                    return false;
                }
                Thread.onSpinWait();
            }
            core.lock.exit();
            return true;
        }

        @Override
        public boolean isSliceOver(long until) {
            return true;
        }
    }

    /** Holds the tracker lock for all of a walk. */
    private static final class NeverOver extends Counting {
        @Override
        public boolean isSliceOver(long until) {
            return false;
        }
    }

    private static Engine open(Counting rules) {
        return new EngineBuilder().rules(rules).pooled(1).build();
    }

    /** Pushes operations with futures; none of them ends before the body, or the operation, that holds them up. */
    private static List<CompletableFuture<Void>> push(Engine engine, Pending where, Var gate) {
        List<CompletableFuture<Void>> futures = new ArrayList<>();
        for (int i = 0; i < PENDING; i++) {
            OpBuilder op = engine.op("op" + i);
            switch (where) {
                case READY -> op.mutates(engine.newVar());
                case WAITING -> op.reads(gate).mutates(engine.newVar());
                case CHAINED -> op.mutates(gate);
            }
            futures.add(op.submit(TestSupport.nothing()));
        }
        return futures;
    }

    /** A body that no interrupt ends. */
    private static Body until(CountDownLatch started, CountDownLatch release) {
        return () -> {
            started.countDown();
            boolean released = false;
            while (!released) {
                try {
                    TestSupport.await(release);
                    released = true;
                } catch (InterruptedException e) {
                    // Only the latch counts.
                }
            }
        };
    }

    private static void requireBounded(Counting rules, int bound) {
        assertEquals(0, rules.kept.get(), "the tracker lock was not released between two slices");
        assertTrue(rules.most.get() <= bound, () -> rules.most + " operations in one hold of the tracker lock");
        assertTrue(rules.all.get() >= PENDING, () -> "only " + rules.all + " operations were looked at");
    }

    @ParameterizedTest
    @EnumSource(Pending.class)
    void aShutdownCancelsFewOperationsInOneHold(Pending where) throws Exception {
        Counting rules = new Counting();
        Engine engine = open(rules);
        Var gate = engine.newVar("gate");
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        // The shutdown ends this one, and then what waits for it.
        Held.push(engine.op("open").mutates(gate)).untilStarted();
        engine.op("running").push(until(started, release));
        TestSupport.await(started);
        List<CompletableFuture<Void>> futures = push(engine, where, gate);
        rules.start(engine);
        engine.shutdownNow();
        release.countDown();
        engine.close();
        requireBounded(rules, CANCELLED);
        for (CompletableFuture<Void> future : futures) {
            assertThrows(CancellationException.class, future::join);
        }
        assertEquals(PENDING + 1, engine.stats().cancelled());
    }

    /** Behind a body that runs on, only futures can be failed. */
    @ParameterizedTest
    @EnumSource(value = Pending.class, names = {"WAITING", "CHAINED"})
    void aShutdownFindsFewFuturesInOneHold(Pending where) throws Exception {
        Counting rules = new Counting();
        Engine engine = open(rules);
        Var gate = engine.newVar("gate");
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        engine.op("running").mutates(gate).push(until(started, release));
        TestSupport.await(started);
        List<CompletableFuture<Void>> futures = push(engine, where, gate);
        rules.start(engine);
        engine.shutdownNow();
        try {
            requireBounded(rules, LOOKED_AT);
            assertEquals(PENDING, futures.stream().filter(CompletableFuture::isCancelled).count());
        } finally {
            release.countDown();
        }
        engine.close();
        assertEquals(PENDING, engine.stats().cancelled());
    }

    private static void aSnapshotLooksAtFewOperationsInOneHold(Counting rules, Pending where) throws Exception {
        try (Engine engine = open(rules)) {
            Var gate = engine.newVar("gate");
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            engine.op("running").mutates(gate).push(until(started, release));
            TestSupport.await(started);
            push(engine, where, gate);
            // Once, so that all are taken in.
            engine.snapshot();
            rules.start(engine);
            try {
                assertEquals(PENDING + 1, engine.snapshot().operations().size());
                requireBounded(rules, LOOKED_AT);
            } finally {
                release.countDown();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Pending.class)
    void aSnapshotLooksAtFewOperationsInOneHold(Pending where) throws Exception {
        aSnapshotLooksAtFewOperationsInOneHold(new Counting(), where);
    }

    @ParameterizedTest
    @EnumSource(Pending.class)
    void theTestTellsASnapshotThatNeverReleasesTheLock(Pending where) {
        assertThrows(AssertionError.class, () -> aSnapshotLooksAtFewOperationsInOneHold(new NeverOver(), where));
    }

    /** Follows what waits for the waiting operation: it has to, because it is not plain that the wait ends. */
    private static void aSearchLooksAtFewOperationsInOneHold(Counting rules, Pending where) throws Exception {
        try (Engine engine = open(rules)) {
            Var gate = engine.newVar("gate");
            Var awaited = engine.newVar("awaited");
            Held held = Held.push(engine.op("held").mutates(awaited)).untilStarted();
            for (int i = 0; i < 50; i++) {
                engine.op("behind").mutates(awaited).push(TestSupport.nothing());
            }
            CountDownLatch pushed = new CountDownLatch(1);
            CompletableFuture<Thread> waiting = new CompletableFuture<>();
            CompletableFuture<Void> end = engine.op("waits").mutates(gate).submit(() -> {
                TestSupport.await(pushed);
                waiting.complete(Thread.currentThread());
                engine.waitToRead(awaited);
            });
            push(engine, where, gate);
            engine.snapshot();
            rules.start(engine);
            pushed.countDown();
            // It searches before it waits; what ends the wait ends the search too.
            TestSupport.eventually(() -> rules.all.get() >= PENDING, () -> "the search should look at all that waits");
            TestSupport.untilParked(waiting.get());
            held.release();
            end.get();
            requireBounded(rules, LOOKED_AT);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Pending.class, names = {"WAITING", "CHAINED"})
    void aSearchLooksAtFewOperationsInOneHold(Pending where) throws Exception {
        aSearchLooksAtFewOperationsInOneHold(new Counting(), where);
    }

    @ParameterizedTest
    @EnumSource(value = Pending.class, names = {"WAITING", "CHAINED"})
    void theTestTellsASearchThatNeverReleasesTheLock(Pending where) {
        assertThrows(AssertionError.class, () -> aSearchLooksAtFewOperationsInOneHold(new NeverOver(), where));
    }
}

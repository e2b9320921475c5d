package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Idle threads of an engine use no processor time. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class IdleTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long SETTLE_NANOS = 20_000_000;
    private static final long LOOK_NANOS = 300_000_000;
    /** A worker that checks for work every 50 µs uses ten times as much. */
    private static final double MOST = 0.02;

    private final OpenEngines engines = new OpenEngines();

    @AfterEach
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }

    private long used(Engine engine) {
        long nanos = 0;
        for (Thread thread : OpenEngines.threadsOf(engines.nameOf(engine))) {
            nanos += Math.max(0, THREADS.getThreadCpuTime(thread.getId()));
        }
        return nanos;
    }

    private double share(Engine engine) {
        LockSupport.parkNanos(SETTLE_NANOS);
        long began = System.nanoTime();
        long before = used(engine);
        while (System.nanoTime() - began < LOOK_NANOS) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return (used(engine) - before) / (double) (System.nanoTime() - began);
    }

    /** Tiny operations, so that one worker runs them and another watches it; then an operation that blocks. */
    @Test
    void theWatcherOfTinyOperationsSleepsWhileABodyBlocksAndNothingWaits() throws Exception {
        Assumptions.assumeTrue(THREADS.isThreadCpuTimeEnabled());
        Engine engine = engines.open(Engine.builder().pooled(3));
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        for (int i = 0; i < 20_000; i++) {
            engine.op("tiny").push(TestSupport.nothing());
        }
        engine.op("blocks").push(() -> {
            running.countDown();
            TestSupport.await(open);
        });
        TestSupport.await(running);
        double share = share(engine);
        assertTrue(share < MOST, () -> "used " + share + " of a processor");
        // The lane still has workers for new operations.
        for (int i = 0; i < 100; i++) {
            int at = i;
            CompletableFuture<Integer> later = engine.op("later").call(() -> at);
            assertEquals(at, later.get(30, TimeUnit.SECONDS));
        }
        open.countDown();
    }
}

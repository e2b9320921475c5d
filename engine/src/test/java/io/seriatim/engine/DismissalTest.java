package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A worker that is not needed any more, but cannot be removed for lack of memory, stays asleep: it does not disturb the
 * others and is removed later.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DismissalTest {
    private static final int FAILURES = 3;

    /** Simulates a lack of memory when the first workers are removed. */
    private static final class NoMemory extends Rules {
        final CountDownLatch failures = new CountDownLatch(FAILURES);

        @Override
        public long lookAroundNanos() {
            return 1_000_000;
        }

        @Override
        public void beforeDismissal(Thread worker) {
            if (failures.getCount() > 0) {
                failures.countDown();
                throw new OutOfMemoryError("planted");
            }
        }
    }

    @Test
    void aWorkerThatCannotGoSleepsOn() throws Exception {
        NoMemory rules = new NoMemory();
        Engine engine = new EngineBuilder().rules(rules).pooled(1)
                .onUnhandled(t -> assertEquals("planted", t.getMessage())).build();
        Var v = engine.newVar("v");
        int[] ran = new int[1];
        // The only worker waits inside an operation, so a second one takes its place meanwhile.
        engine.op("waits").push(() -> {
            engine.op("awaited").mutates(v).push(() -> ran[0]++);
            engine.waitToRead(v);
        });
        engine.waitForAll();
        rules.failures.await();
        for (int i = 0; i < 1_000; i++) {
            engine.op("afterwards").mutates(v).push(() -> ran[0]++);
            if (i % 100 == 0) {
                engine.waitForAll();
            }
        }
        engine.waitForAll();
        assertEquals(1_001, ran[0]);
        assertTrue(engine.close(Duration.ofSeconds(20)), () -> "a worker is still there: " + engine.stats());
        assertEquals(0, engine.stats().workers());
    }
}

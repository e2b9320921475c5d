package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each operation holds a variable and waits for a randomly chosen variable of another, all at the same time. Long
 * queues and short slices make the searches for cycles take many slices and overlap. Exactly one wait of each cycle is
 * refused, and all operations end.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CycleSearchTest {
    private static final int MOST = 8;
    private static final int QUEUED = 300;

    /** A wrong rule: refuses every wait of a cycle whose search runs at the same time. */
    private static final class CountsLaterWaits extends Rules {
        @Override
        public boolean counts(Wait other, Wait searching) {
            return true;
        }
    }

    /** A wrong rule: misses cycles that contain the wait of another operation. */
    private static final class CountsNoWaits extends Rules {
        @Override
        public boolean counts(Wait other, Wait searching) {
            return false;
        }
    }

    private final OpenEngines engines = new OpenEngines();
    private final SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED);

    @AfterEach
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }

    /** Counts the cycles of a graph in which each node has one outgoing edge. */
    private static int cycles(int[] next) {
        int cycles = 0;
        int[] seenFrom = new int[next.length];
        for (int start = 0; start < next.length; start++) {
            int at = start;
            while (seenFrom[at] == 0) {
                seenFrom[at] = start + 1;
                at = next[at];
            }
            cycles += seenFrom[at] == start + 1 ? 1 : 0;
        }
        return cycles;
    }

    /** Runs one random program; returns a description of an error, or an empty string. */
    private String run(Rules rules, Duration limit) throws Exception {
        int n = 2 + random.nextInt(MOST - 1);
        int[] waitsFor = random.ints(n, 0, n).toArray();
        Engine engine = engines.open(new EngineBuilder().rules(rules));
        TestSupport.coreOf(engine).sliceNanos = 0;
        Var[] v = TestSupport.vars(engine, n);
        CountDownLatch all = new CountDownLatch(n);
        CountDownLatch queued = new CountDownLatch(1);
        AtomicInteger told = new AtomicInteger();
        AtomicInteger timedOut = new AtomicInteger();
        List<CompletableFuture<Void>> futures = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Var other = v[waitsFor[i]];
            boolean toWrite = random.nextBoolean();
            futures.add(engine.op("op" + i).mutates(v[i]).on(Lane.of("sim:" + i)).submit(() -> {
                all.countDown();
                TestSupport.await(queued);
                try {
                    if (toWrite) {
                        engine.waitToWrite(other, limit);
                    } else {
                        engine.waitToRead(other, limit);
                    }
                } catch (IllegalStateException e) {
                    told.incrementAndGet();
                } catch (TimeoutException e) {
                    timedOut.incrementAndGet();
                }
            }));
        }
        for (int i = 0; i < QUEUED; i++) {
            engine.op("reads").reads(v[random.nextInt(n)]).mutates(engine.newVar()).push(TestSupport.nothing());
        }
        TestSupport.await(all);
        queued.countDown();
        for (CompletableFuture<Void> future : futures) {
            future.get(30, TimeUnit.SECONDS);
        }
        engine.close();
        boolean right = told.get() == cycles(waitsFor) && timedOut.get() == 0;
        return right ? "" : told + " told, " + timedOut + " timed out, with waits " + Arrays.toString(waitsFor);
    }

    @Test
    void eachCycleIsToldOnce() throws Exception {
        for (int round = 0; round < TestSupport.scaled(1_000, 25); round++) {
            int number = round;
            String wrong = run(new Rules(), Duration.ofSeconds(30));
            assertEquals("", wrong, () -> "round " + number + " of seed " + EngineUnderTest.SEED);
        }
    }

    @Test
    void theTestDetectsASearchThatCountsLaterWaits() throws Exception {
        boolean caught = false;
        for (int round = 0; round < 5_000 && !caught; round++) {
            caught = !run(new CountsLaterWaits(), Duration.ofSeconds(30)).isEmpty();
        }
        assertTrue(caught);
    }

    @Test
    void theTestDetectsASearchThatCountsNoWaits() throws Exception {
        boolean caught = false;
        for (int round = 0; round < 50 && !caught; round++) {
            caught = !run(new CountsNoWaits(), Duration.ofMillis(20)).isEmpty();
        }
        assertTrue(caught);
    }
}

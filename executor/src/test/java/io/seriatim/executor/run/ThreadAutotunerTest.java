package io.seriatim.executor.run;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** Simulates runs with one thread and with all threads on a clock of the test. */
class ThreadAutotunerTest {
    private static final long MICROS = 1_000;
    private static final long MILLIS = 1_000 * MICROS;
    private static final long SECONDS = 1_000 * MILLIS;
    private static final RunLoop NONE = _ -> {
    };

    private long now;

    private static ThreadAutotuner autotuner(boolean isTried) {
        return new ThreadAutotuner(NONE, NONE, isTried, 2);
    }

    /** Runs for some time, and returns the share of the runs that used all threads. */
    private double together(ThreadAutotuner autotuner, long nanos, LongUnaryOperator alone,
            LongUnaryOperator together) {
        long end = now + nanos;
        int all = 0;
        int several = 0;
        while (now < end) {
            all++;
            long start = now;
            ThreadAutotuner.Variant variant = autotuner.next(start);
            several += variant.isAlone() ? 0 : 1;
            now += (variant.isAlone() ? alone : together).applyAsLong(all);
            autotuner.ended(variant, start, now);
        }
        runs = all;
        return (double) several / all;
    }

    private int runs;

    @Test
    void usesTheFasterVariant() {
        ThreadAutotuner autotuner = autotuner(true);
        assertTrue(together(autotuner, SECONDS, _ -> 200 * MICROS, _ -> 120 * MICROS) > 0.98);
        autotuner = autotuner(true);
        assertTrue(together(autotuner, SECONDS, _ -> 200 * MICROS, _ -> 220 * MICROS) < 0.02);
    }

    @Test
    void repeatsTrialsThatWereDisturbed() {
        ThreadAutotuner autotuner = autotuner(true);
        together(autotuner, SECONDS / 10, _ -> 200 * MICROS, _ -> 220 * MICROS);
        together(autotuner, SECONDS, _ -> 200 * MICROS, _ -> 120 * MICROS);
        assertTrue(together(autotuner, SECONDS, _ -> 200 * MICROS, _ -> 120 * MICROS) > 0.98);
    }

    /** The busiest case: each run with all threads loses several time slices of the operating system. */
    private double throughputOfBusyProcessors(ThreadAutotuner autotuner, boolean isQuietFirst) {
        if (isQuietFirst) {
            together(autotuner, SECONDS, _ -> 200 * MICROS, _ -> 120 * MICROS);
        }
        together(autotuner, 10 * SECONDS, _ -> 220 * MICROS, _ -> 50 * MILLIS);
        return runs * 220.0 * MICROS / (10 * SECONDS);
    }

    @Test
    void losesLittleTimeToHelpersThatAreLate() {
        for (boolean isTried : new boolean[]{true, false}) {
            assertTrue(throughputOfBusyProcessors(autotuner(isTried), true) > 0.9);
        }
        assertTrue(throughputOfBusyProcessors(autotuner(true), false) > 0.9);
    }

    /** One run in twenty is late, as with a process that uses a small part of the time. */
    @Test
    void losesLittleTimeToHelpersThatAreLateAtTimes() {
        ThreadAutotuner autotuner = autotuner(false);
        together(autotuner, SECONDS, _ -> 200 * MICROS, _ -> 120 * MICROS);
        together(autotuner, 10 * SECONDS, _ -> 200 * MICROS, run -> run % 20 == 0 ? 4 * MILLIS : 120 * MICROS);
        assertTrue(runs * 200.0 * MICROS / (10 * SECONDS) > 0.9);
    }

    @Test
    void usesAllThreadsAgainOnceTheyAreInTime() {
        ThreadAutotuner autotuner = autotuner(false);
        throughputOfBusyProcessors(autotuner, true);
        together(autotuner, 2 * SECONDS, _ -> 200 * MICROS, _ -> 120 * MICROS);
        assertTrue(together(autotuner, SECONDS, _ -> 200 * MICROS, _ -> 120 * MICROS) > 0.98);
    }

    /** All of a slow phase's runs take longer, so that one thread would be slower still. */
    @Test
    void doesNotTakeSlowPhasesForLateHelpers() {
        ThreadAutotuner autotuner = autotuner(false);
        together(autotuner, SECONDS, _ -> 200 * MICROS, _ -> 120 * MICROS);
        together(autotuner, 5 * SECONDS, _ -> 800 * MICROS, _ -> 500 * MICROS);
        assertTrue(together(autotuner, 5 * SECONDS, _ -> 800 * MICROS, _ -> 500 * MICROS) > 0.9);
    }

    @Test
    void plantedBugIsFound() {
        ThreadAutotuner neverLate = new ThreadAutotuner(NONE, NONE, false, 2) {
            @Override
            boolean isLate(long nanos, long expected) {
                return false;
            }
        };
        assertFalse(throughputOfBusyProcessors(neverLate, true) > 0.9);
    }
}

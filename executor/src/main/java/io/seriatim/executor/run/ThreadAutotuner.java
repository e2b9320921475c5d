package io.seriatim.executor.run;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Arrays;

/**
 * Measures whether a plan runs faster with several threads, and runs it with one thread for a while when the others are
 * late. The results are the same.
 *
 * <p>
 * <b>Trials.</b> If the gain is uncertain, some runs alternate between one thread and all threads, and the following
 * runs use the variant with the shorter median. The trial is repeated at growing intervals, since other processes or
 * the compiler of the JVM may have disturbed it. It is also repeated if all threads become slower than one was.
 *
 * <p>
 * <b>Pauses.</b> A run with several threads waits for each task that a helper has begun. If the operating system
 * suspends that helper for another process, the run may take many times as long as with one thread. After such a run,
 * the next runs use one thread for a multiple of the lost time, which grows with each further late run. So only a small
 * share of the time is lost, however busy the processors are. The expected time of a run with one thread is measured
 * during pauses, so that a run is not late merely because everything has become slower.
 *
 * <p>
 * Several threads may run the plan at once. The lock guards the measurements and is not held during a run. Runs that
 * overlap may change the measurements in any order, which affects only the choice of the variant.
 *
 * <p>
 * The class is not final, so that tests can inject bugs by overriding its methods.
 */
public class ThreadAutotuner implements RunLoop {
    /** The number of runs that are not measured, while the JVM warms up. */
    private static final int WARM = 8;
    private static final int RUNS = 40;
    /** The number of measured runs of each variant. */
    private static final int MEASURED = (RUNS - WARM) / 4;
    private static final long LEAST_HOLD_NANOS = 100_000_000;
    private static final long FIRST_HOLD_NANOS = 1_000_000_000;
    private static final long MOST_HOLD_NANOS = 60_000_000_000L;
    private static final int HOLD_GROWTH = 4;
    /** The minimum length of a pause, relative to the lost time. */
    private static final int PAUSE_FACTOR = 16;
    private static final long MOST_PAUSE_NANOS = 1_000_000_000;
    /** The number of consecutive runs in time after which the next pause is short again. */
    private static final int IN_TIME = 64;
    /** The weight of a run in the average time of a run with one thread, one in so many. */
    private static final int WEIGHT = 8;

    private final RunLoop alone;
    private final RunLoop together;
    private final boolean isTried;
    private final int threads;

    @GuardedBy("this")
    private int runs;
    /** The times of the last measured runs of each variant. */
    @GuardedBy("this")
    private final long[] timesAlone = new long[MEASURED];
    @GuardedBy("this")
    private final long[] timesTogether = new long[MEASURED];
    @GuardedBy("this")
    private boolean isInTrial = true;
    @GuardedBy("this")
    private boolean isBetterAlone;
    @GuardedBy("this")
    private long bestTogether = Long.MAX_VALUE;
    /** The average times of recent runs of each variant; 0 if there were none. */
    @GuardedBy("this")
    private long usualAlone;
    @GuardedBy("this")
    private long usualTogether;
    /** When the last trial ended. */
    @GuardedBy("this")
    private long tried;
    @GuardedBy("this")
    private long hold = FIRST_HOLD_NANOS;
    @GuardedBy("this")
    private boolean isPaused;
    @GuardedBy("this")
    private long resumed;
    @GuardedBy("this")
    private long pause;
    @GuardedBy("this")
    private int inTime;

    /** How a run is executed. */
    enum Variant {
        /** With one thread. */
        ALONE,
        /** With one thread, after a run with one thread: caches hold what that run has left. */
        MEASURED_ALONE,
        /** With all threads. */
        TOGETHER,
        /** With all threads, after a run with all threads. */
        MEASURED_TOGETHER;

        boolean isAlone() {
            return this == ALONE || this == MEASURED_ALONE;
        }
    }

    ThreadAutotuner(RunLoop alone, RunLoop together, boolean isTried, int threads) {
        this.alone = alone;
        this.together = together;
        this.isTried = isTried;
        this.threads = threads;
    }

    /** Returns a loop that runs trials, for plans whose gain is uncertain. */
    public static RunLoop ofTrials(RunLoop alone, RunLoop together, int threads) {
        return new ThreadAutotuner(alone, together, true, threads);
    }

    /** Returns a loop that uses all threads, except in pauses. */
    public static RunLoop ofMany(RunLoop alone, RunLoop together, int threads) {
        return new ThreadAutotuner(alone, together, false, threads);
    }

    @Override
    public void run(Frame frame) {
        long start = System.nanoTime();
        Variant variant = next(start);
        (variant.isAlone() ? alone : together).run(frame);
        ended(variant, start, System.nanoTime());
    }

    /** Returns how to execute a run that starts now. */
    final synchronized Variant next(long now) {
        if (isPaused) {
            if (now - resumed < 0) {
                return Variant.ALONE;
            }
            isPaused = false;
        }
        if (!isTried) {
            return Variant.TOGETHER;
        }
        if (runs == RUNS) {
            if (isInTrial) {
                // One thread may be 5 % slower, so that other work can use the other threads.
                isBetterAlone = median(timesAlone) / 20 * 19 <= median(timesTogether);
                isInTrial = false;
            }
            boolean isDue = now - tried >= hold;
            boolean isSlower = !isBetterAlone && usualTogether > usualAlone && now - tried >= LEAST_HOLD_NANOS;
            if (!isDue && !isSlower) {
                return isBetterAlone ? Variant.ALONE : Variant.TOGETHER;
            }
            hold = isDue ? Math.min(MOST_HOLD_NANOS, hold * HOLD_GROWTH) : hold;
            runs = WARM;
            isInTrial = true;
            usualTogether = 0;
        }
        int run = runs++;
        tried = now;
        // Only the second of two consecutive runs of a variant is measured: the first finds the caches as the other
        // variant left them.
        boolean isMeasured = run >= WARM && run % 2 == 1;
        if (run / 2 % 2 == 0) {
            return isMeasured ? Variant.MEASURED_ALONE : Variant.ALONE;
        }
        return isMeasured ? Variant.MEASURED_TOGETHER : Variant.TOGETHER;
    }

    /** Notes when a run started and ended. */
    final synchronized void ended(Variant variant, long start, long end) {
        long nanos = end - start;
        if (!isTried && runs < WARM) {
            runs++;
            return;
        }
        if (isTried && runs <= WARM) {
            return;
        }
        if (variant.isAlone()) {
            usualAlone = average(usualAlone, nanos);
            if (variant == Variant.MEASURED_ALONE) {
                keep(timesAlone, nanos);
            }
            return;
        }
        bestTogether = Math.min(bestTogether, nanos);
        usualTogether = average(usualTogether, nanos);
        if (variant == Variant.MEASURED_TOGETHER) {
            keep(timesTogether, nanos);
        }
        long expected = expected();
        if (isLate(nanos, expected)) {
            pause = Math.max(PAUSE_FACTOR * (nanos - expected), Math.min(2 * pause, MOST_PAUSE_NANOS));
            isPaused = true;
            resumed = end + pause;
            inTime = 0;
        } else if (++inTime == IN_TIME) {
            pause = 0;
        }
    }

    /** Returns whether a run with all threads took clearly longer than a run with one thread takes. */
    boolean isLate(long nanos, long expected) {
        return expected > 0 && nanos > expected + expected / 2;
    }

    /** Returns the time of a run with one thread, or its upper limit if it is unknown; 0 if that is unknown too. */
    private synchronized long expected() {
        if (usualAlone > 0) {
            return usualAlone;
        }
        return bestTogether == Long.MAX_VALUE ? 0 : bestTogether * threads;
    }

    /** Returns the average of recent runs after another one. A single very long run counts little. */
    private static long average(long usual, long nanos) {
        return usual == 0 ? nanos : usual + (Math.min(nanos, 4 * usual) - usual) / WEIGHT;
    }

    /** Replaces the oldest time. */
    private static void keep(long[] times, long nanos) {
        System.arraycopy(times, 1, times, 0, times.length - 1);
        times[times.length - 1] = nanos;
    }

    private static long median(long[] times) {
        long[] sorted = times.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}

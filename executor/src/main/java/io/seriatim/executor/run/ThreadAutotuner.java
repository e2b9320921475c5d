package io.seriatim.executor.run;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures whether a plan runs faster with several threads. The first runs alternate between one thread and all
 * threads; later runs use the variant with the shorter best time. The results are the same.
 */
public final class ThreadAutotuner implements RunLoop {
    /** The number of runs that are not measured, while the JVM warms up. */
    private static final int WARM = 8;
    private static final int RUNS = 40;

    private final RunLoop alone;
    private final RunLoop together;
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicLong bestAlone = new AtomicLong(Long.MAX_VALUE);
    private final AtomicLong bestTogether = new AtomicLong(Long.MAX_VALUE);

    public ThreadAutotuner(RunLoop alone, RunLoop together) {
        this.alone = alone;
        this.together = together;
    }

    @Override
    public void run(Frame frame) {
        int run = runs.get();
        if (run >= RUNS) {
            (isBetterAlone() ? alone : together).run(frame);
            return;
        }
        run = runs.getAndIncrement();
        boolean single = run / 2 % 2 == 0;
        long start = System.nanoTime();
        (single ? alone : together).run(frame);
        // Only the second of two consecutive runs of a variant is measured: the first finds the caches as the other
        // variant left them.
        if (run >= WARM && run % 2 == 1) {
            long nanos = System.nanoTime() - start;
            (single ? bestAlone : bestTogether).accumulateAndGet(nanos, Math::min);
        }
    }

    /** Returns whether one thread is at most 5 % slower, so that other work can use the other threads. */
    private boolean isBetterAlone() {
        return bestAlone.get() / 20 * 19 <= bestTogether.get();
    }
}

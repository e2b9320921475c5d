package io.seriatim.executor.run;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Finds out whether a plan gains by several threads: its first runs are done in turn by one and by all, and what was
 * faster at its best does the later ones. The results are the same.
 */
public final class ThreadAutotuner implements RunLoop {
    /** While the process still warms up, times say little. */
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
        // The first of two runs of a kind finds caches as the other kind has left them.
        if (run >= WARM && run % 2 == 1) {
            long nanos = System.nanoTime() - start;
            (single ? bestAlone : bestTogether).accumulateAndGet(nanos, Math::min);
        }
    }

    /** Others may need a thread that gains little. */
    private boolean isBetterAlone() {
        return bestAlone.get() / 20 * 19 <= bestTogether.get();
    }
}

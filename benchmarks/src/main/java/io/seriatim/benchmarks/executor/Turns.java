package io.seriatim.benchmarks.executor;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures contenders in turn, so that what disturbs the machine disturbs all. Each round begins with another one.
 *
 * @param warmUps
 *            rounds that do not count
 * @param rounds
 *            rounds that count, from 1
 * @param sampleNanos
 *            how long a contender runs in a round, about
 */
record Turns(int warmUps, int rounds, long sampleNanos) {
    /**
     * OpenMP's threads spin for some milliseconds after a kernel of several threads, and would disturb whatever comes
     * next.
     */
    private static final long SETTLE_NANOS = 20_000_000;

    Timings run(List<Runnable> contenders) {
        int count = contenders.size();
        double[][] nanos = new double[count][rounds];
        long[] calls = new long[count];
        for (int round = -warmUps; round < rounds; round++) {
            for (int i = 0; i < count; i++) {
                int which = Math.floorMod(round + i, count);
                if (calls[which] == 0 || round < 0) {
                    // The compiler makes calls faster from round to round.
                    calls[which] = calls(contenders.get(which));
                }
                LockSupport.parkNanos(this, SETTLE_NANOS);
                contenders.get(which).run();
                double time = nanos(contenders.get(which), calls[which]);
                if (round >= 0) {
                    nanos[which][round] = time;
                }
            }
        }
        return new Timings(nanos);
    }

    /** How many calls fill a sample. */
    private long calls(Runnable call) {
        long calls = 1;
        while (true) {
            double all = nanos(call, calls) * calls;
            if (all * 2 >= sampleNanos) {
                return Math.max(1, Math.round(calls * sampleNanos / all));
            }
            calls = Math.max(calls + 1, Math.min(calls * 10, (long) (calls * sampleNanos / Math.max(1, all))));
        }
    }

    private static double nanos(Runnable call, long calls) {
        long start = System.nanoTime();
        for (long i = 0; i < calls; i++) {
            call.run();
        }
        return (System.nanoTime() - start) / (double) calls;
    }
}

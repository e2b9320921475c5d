package io.seriatim.benchmarks.executor;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures contenders in turn, so that other load on the machine affects all of them. Each round begins with another
 * one.
 *
 * @param warmUps
 *            the number of warm-up rounds
 * @param rounds
 *            the number of measured rounds, at least 1
 * @param sampleNanos
 *            the approximate time of a contender in a round
 */
record Turns(int warmUps, int rounds, long sampleNanos) {
    /**
     * OpenMP's threads spin for some milliseconds after a multi-threaded kernel, and would disturb the next contender.
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
                    // JIT compilation makes calls faster from round to round.
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

    /** Returns the number of calls of a sample. */
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

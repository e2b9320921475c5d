package io.seriatim.benchmarks.kernels;

/**
 * Measures both sides of a case in turn, so that other load on the machine affects both.
 *
 * @param rounds
 *            the number of measured rounds
 * @param sampleNanos
 *            the approximate time of one side in a round
 */
record Duel(int rounds, long sampleNanos) {
    private static final int WARM_UPS = 3;

    Figure run(Case what) {
        long ours = calls(what.ours());
        long limits = calls(what.limit());
        double[] own = new double[rounds];
        double[] other = new double[rounds];
        double[] ratio = new double[rounds];
        for (int i = -WARM_UPS; i < rounds; i++) {
            double a = nanos(what.ours(), ours);
            double b = nanos(what.limit(), limits);
            if (i >= 0) {
                own[i] = a;
                other[i] = b;
                ratio[i] = what.amount() / a / (what.limitAmount() / b);
            }
        }
        double nanos = Figure.median(own);
        return new Figure(nanos, what.amount() / nanos, what.limitAmount() / Figure.median(other),
                Figure.median(ratio));
    }

    /** Returns the number of calls of a sample. */
    private long calls(Runnable call) {
        call.run();
        long calls = 1;
        while (true) {
            double nanos = nanos(call, calls) * calls;
            if (nanos * 2 > sampleNanos) {
                return calls;
            }
            calls = Math.max(calls + 1, Math.min(calls * 10, (long) (calls * sampleNanos / Math.max(1, nanos))));
        }
    }

    static double nanos(Runnable call, long calls) {
        long start = System.nanoTime();
        for (long i = 0; i < calls; i++) {
            call.run();
        }
        return (System.nanoTime() - start) / (double) calls;
    }
}

package io.seriatim.examples.parallel;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.function.BiPredicate;

/** Runs the serial and the parallel form of a program in turn, compares their results and prints their times. */
final class Comparison {
    private static final int WARM_UP = 5;
    private static final int ROUNDS = 9;

    private Comparison() {
    }

    /** The form of a program that runs on an engine. */
    interface Parallel<R> {
        R run(Engine engine) throws Exception;
    }

    /** Returns an engine whose operations run on the given number of threads. */
    static Engine engine(int workers) {
        return Engine.builder().perDevice().workers(Lane.CPU, workers).build();
    }

    /** Returns the result, which both forms have computed in every round. */
    static <R> R run(String title, int workers, Callable<R> serial, Parallel<R> parallel, BiPredicate<R, R> equal)
            throws Exception {
        R result = serial.call();
        double[] serialMillis = new double[ROUNDS];
        double[] parallelMillis = new double[ROUNDS];
        try (Engine engine = engine(workers)) {
            for (int round = -WARM_UP; round < ROUNDS; round++) {
                long start = System.nanoTime();
                R one = serial.call();
                long between = System.nanoTime();
                R other = parallel.run(engine);
                long end = System.nanoTime();
                if (!equal.test(result, one) || !equal.test(result, other)) {
                    throw new IllegalStateException(title + ": the serial and the parallel result differ");
                }
                if (round >= 0) {
                    serialMillis[round] = (between - start) / 1e6;
                    parallelMillis[round] = (end - between) / 1e6;
                }
            }
        }
        double s = median(serialMillis);
        double p = median(parallelMillis);
        System.out.printf("%s%n", title);
        System.out.printf(
                "serial %.1f ms, parallel %.1f ms with %d workers (medians of %d), ratio %.2f; equal results%n",
                s, p, workers, ROUNDS, s / p);
        return result;
    }

    private static double median(double[] times) {
        Arrays.sort(times);
        return times[times.length / 2];
    }
}

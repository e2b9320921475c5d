package io.seriatim.benchmarks.metg;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** The work of a task: fused multiply-adds on a buffer that fits the first-level cache. */
final class FmaKernel {
    /** The length of the buffer. */
    static final int LENGTH = 64;
    /** The floating-point operations of one iteration. */
    static final int FLOPS = 2 * LENGTH;

    private static final double FACTOR = 0.999_999;
    private static final double ADDEND = 1e-6;

    private FmaKernel() {
    }

    static void run(double[] buffer, int iterations) {
        for (int n = 0; n < iterations; n++) {
            for (int i = 0; i < LENGTH; i++) {
                buffer[i] = Math.fma(buffer[i], FACTOR, ADDEND);
            }
        }
    }

    /**
     * Measures the rate of some threads that only run the kernel, all for the same time.
     *
     * @return floating-point operations per nanosecond, of all threads together
     */
    static double peak(int threads, long nanos) throws InterruptedException {
        AtomicLong iterations = new AtomicLong();
        CountDownLatch start = new CountDownLatch(threads);
        Thread[] all = new Thread[threads];
        long[] times = new long[threads];
        for (int k = 0; k < threads; k++) {
            int self = k;
            all[k] = Thread.ofPlatform().daemon().name("metg-peak-" + k).start(() -> {
                double[] buffer = new double[LENGTH];
                start.countDown();
                try {
                    start.await();
                } catch (InterruptedException e) {
                    return; // nobody interrupts it
                }
                long begin = System.nanoTime();
                long done = 0;
                do {
                    run(buffer, 1000);
                    done += 1000;
                    times[self] = System.nanoTime() - begin;
                } while (times[self] < nanos);
                iterations.addAndGet(done);
            });
        }
        long longest = 1;
        for (int k = 0; k < threads; k++) {
            all[k].join();
            longest = Math.max(longest, times[k]);
        }
        return (double) iterations.get() * FLOPS / longest;
    }
}

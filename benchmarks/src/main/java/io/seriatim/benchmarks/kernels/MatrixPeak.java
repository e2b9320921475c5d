package io.seriatim.benchmarks.kernels;

import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;

/** The peak speed of the library: a bare product of square matrices of size 1,024. */
public final class MatrixPeak {
    private static final int SIZE = 1024;
    private static final int WARM_UPS = 3;

    private MatrixPeak() {
    }

    /**
     * Measures the peak.
     *
     * @param bfloat16
     *            true for bfloat16, false for float32
     * @param threads
     *            the number of the library's threads, at least 1; reset to 1 for the calling thread afterwards
     * @param repetitions
     *            the number of repetitions, at least 1, of which the fastest is used
     * @return floating-point operations per second
     */
    public static double flops(boolean bfloat16, int threads, int repetitions) {
        Runnable product = BareLibrary.matMul(bfloat16 ? DnnlConstants.BF16 : DnnlConstants.F32, SIZE, threads);
        long best = Long.MAX_VALUE;
        for (int i = -WARM_UPS; i < repetitions; i++) {
            long start = System.nanoTime();
            product.run();
            long nanos = System.nanoTime() - start;
            best = i < 0 ? best : Math.min(best, nanos);
        }
        Dnnl.require().setThreads(1);
        return 2.0 * SIZE * SIZE * SIZE * 1e9 / best;
    }
}

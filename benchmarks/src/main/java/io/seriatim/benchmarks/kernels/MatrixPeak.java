package io.seriatim.benchmarks.kernels;

import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;

/** What the library's best product reaches: a product of square matrices of 1,024 with nothing around it. */
public final class MatrixPeak {
    private static final int SIZE = 1024;
    private static final int WARM_UPS = 3;

    private MatrixPeak() {
    }

    /**
     * Measures it.
     *
     * @param bfloat16
     *            whether with bfloat16, else with float32
     * @param threads
     *            of the library, from 1; it is left at one for the calling thread
     * @param repetitions
     *            of which the fastest counts, from 1
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

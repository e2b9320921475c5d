package io.seriatim.tensor.onednn;

import io.seriatim.tensor.internal.ffi.Dnnl;

/** How many OpenMP threads the calling thread's primitives use: a setting of each thread, which is changed only when it differs. */
final class ThreadCount {
    private static final ThreadLocal<int[]> CURRENT = ThreadLocal.withInitial(() -> new int[1]);

    private ThreadCount() {
    }

    static void set(Dnnl dnnl, int threads) {
        int[] current = CURRENT.get();
        if (current[0] != threads) {
            dnnl.setThreads(threads);
            current[0] = threads;
        }
    }
}

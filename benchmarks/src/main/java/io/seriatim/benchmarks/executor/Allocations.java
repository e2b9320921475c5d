package io.seriatim.benchmarks.executor;

import com.sun.management.ThreadMXBean;
import io.seriatim.device.Devices;
import java.lang.management.ManagementFactory;

/**
 * The mean allocations of a call.
 *
 * @param heap
 *            the bytes of objects that all threads have allocated
 * @param memory
 *            the bytes of device buffers that are still open afterwards
 */
record Allocations(double heap, double memory) {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    static Allocations of(Runnable call, int calls) {
        long looking = Math.min(look(), look());
        long open = Devices.system().host().memory().used();
        long before = THREADS.getTotalThreadAllocatedBytes();
        for (int i = 0; i < calls; i++) {
            call.run();
        }
        long bytes = THREADS.getTotalThreadAllocatedBytes() - before - looking;
        return new Allocations(Math.max(0, bytes) / (double) calls,
                (Devices.system().host().memory().used() - open) / (double) calls);
    }

    /** The allocations of the measurement itself. */
    private static long look() {
        long before = THREADS.getTotalThreadAllocatedBytes();
        return THREADS.getTotalThreadAllocatedBytes() - before;
    }
}

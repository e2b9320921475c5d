package io.seriatim.executor;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The native memory of kernels up to which the compiled sizes of a block are kept: a part of the machine's memory. */
final class KernelMemory {
    private static final long LEAST = 128L << 20;
    private static final long MOST = 512L << 20;
    private static final int PART = 64;

    private KernelMemory() {
    }

    /** Holds the limit, since asking the machine takes milliseconds. */
    private static final class Limit {
        private static final long BYTES = of(
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize());
    }

    /** Returns the limit in bytes for the memory that this process may use, that of its container if it has one. */
    static long limit() {
        return Limit.BYTES;
    }

    /** Returns the limit in bytes for a machine or container with some bytes of memory. */
    static long of(long memory) {
        return Math.clamp(memory / PART, LEAST, MOST);
    }
}

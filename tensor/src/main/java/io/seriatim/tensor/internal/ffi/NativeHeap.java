package io.seriatim.tensor.internal.ffi;

import io.seriatim.device.internal.ffi.NativeMemory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the kernel library has released on the C library's heap. glibc keeps much of it; when it has become much, the
 * heap is trimmed.
 */
public final class NativeHeap {
    /** So much is released before the heap is trimmed, which takes some milliseconds. */
    private static final long STEP = 32L << 20;
    private static final AtomicLong RELEASED = new AtomicLong();

    private NativeHeap() {
    }

    /**
     * Counts what was released, and trims the heap when it has become much.
     *
     * @param bytes
     *            how much, estimated
     */
    public static void released(long bytes) {
        if (bytes > 0 && RELEASED.addAndGet(bytes) >= STEP) {
            RELEASED.set(0);
            NativeMemory.trim();
        }
    }
}

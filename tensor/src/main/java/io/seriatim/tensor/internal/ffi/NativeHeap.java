package io.seriatim.tensor.internal.ffi;

import io.seriatim.device.internal.ffi.NativeMemory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the memory that the kernel library has freed on the C library's heap. glibc keeps much of it for itself, so
 * the heap is trimmed from time to time.
 */
public final class NativeHeap {
    /** The heap is trimmed after so many freed bytes; that takes some milliseconds. */
    private static final long STEP = 32L << 20;
    private static final AtomicLong RELEASED = new AtomicLong();

    private NativeHeap() {
    }

    /**
     * Counts freed memory, and trims the heap if there is enough of it.
     *
     * @param bytes
     *            the number of bytes, estimated
     */
    public static void released(long bytes) {
        if (bytes > 0 && RELEASED.addAndGet(bytes) >= STEP) {
            RELEASED.set(0);
            NativeMemory.trim();
        }
    }
}

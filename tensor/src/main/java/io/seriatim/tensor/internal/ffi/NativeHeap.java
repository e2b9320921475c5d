package io.seriatim.tensor.internal.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The C library's heap. glibc keeps what is freed between blocks that are still used, in a heap for each of several threads, and gives it back to the system when {@code malloc_trim} is called. Where
 * there is no such function, nothing is done.
 */
@SuppressWarnings("restricted")
public final class NativeHeap {
    /** So much is released before the heap is trimmed, which takes some milliseconds. */
    private static final long STEP = 32L << 20;
    private static final @Nullable MethodHandle TRIM = Linker.nativeLinker().defaultLookup().find("malloc_trim")
            .map(address -> Linker.nativeLinker().downcallHandle(address,
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG)))
            .orElse(null);
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
            trim();
        }
    }

    private static void trim() {
        MethodHandle trim = TRIM;
        if (trim != null) {
            try {
                int given = (int) trim.invokeExact(0L);
                assert given >= 0;
            } catch (Throwable e) {
                throw new AssertionError("malloc_trim throws nothing", e);
            }
        }
    }
}

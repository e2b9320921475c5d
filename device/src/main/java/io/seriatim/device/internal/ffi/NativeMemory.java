package io.seriatim.device.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Bindings to the C library's aligned allocation and to the trimming of its heap. Unlike an arena, the allocation
 * neither zeroes memory nor registers it.
 */
@SuppressWarnings("restricted")
public final class NativeMemory {
    /** The alignment of all memory, in bytes: a cache line, and the widest vector register. */
    public static final long ALIGNMENT = 64;
    private static final boolean WINDOWS = System.getProperty("os.name", "").toLowerCase(Locale.ROOT)
            .startsWith("windows");
    private static final MethodHandle ALLOCATE;
    private static final MethodHandle FREE;
    private static final @Nullable MethodHandle TRIM;

    static {
        Linker linker = Linker.nativeLinker();
        SymbolLookup library = WINDOWS
                ? SymbolLookup.libraryLookup("ucrtbase", Arena.global())
                : linker.defaultLookup();
        FunctionDescriptor two = FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG);
        ALLOCATE = linker.downcallHandle(library.findOrThrow(WINDOWS ? "_aligned_malloc" : "aligned_alloc"), two);
        FREE = linker.downcallHandle(library.findOrThrow(WINDOWS ? "_aligned_free" : "free"),
                FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));
        TRIM = library.find("malloc_trim")
                .map(address -> linker.downcallHandle(address,
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG)))
                .orElse(null);
    }

    private NativeMemory() {
    }

    /**
     * Allocates memory.
     *
     * @param bytes
     *            the size, a multiple of {@link #ALIGNMENT}
     * @return a segment of the global scope, or null if the system has not enough memory
     */
    public static @Nullable MemorySegment allocate(long bytes) {
        long address;
        try {
            // The Windows function has the arguments in the reverse order.
            address = WINDOWS
                    ? (long) ALLOCATE.invokeExact(bytes, ALIGNMENT)
                    : (long) ALLOCATE.invokeExact(ALIGNMENT, bytes);
        } catch (Throwable e) {
            throw new AssertionError("aligned_alloc throws nothing", e);
        }
        return address == 0 ? null : MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /**
     * Frees memory.
     *
     * @param memory
     *            a segment returned by {@link #allocate}
     */
    public static void free(MemorySegment memory) {
        try {
            FREE.invokeExact(memory.address());
        } catch (Throwable e) {
            throw new AssertionError("free throws nothing", e);
        }
    }

    /**
     * Releases freed memory that glibc keeps in its heaps to the system, which takes some milliseconds. Has no effect
     * with other C libraries.
     */
    public static void trim() {
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

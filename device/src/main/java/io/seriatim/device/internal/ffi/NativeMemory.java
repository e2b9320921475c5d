package io.seriatim.device.internal.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The C library's aligned allocation, which neither zeroes nor registers anything, unlike an arena, and the trimming
 * of its heap.
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
                ? SymbolLookup.libraryLookup("ucrtbase", java.lang.foreign.Arena.global())
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
     * Takes memory.
     *
     * @param bytes
     *            a multiple of {@link #ALIGNMENT}
     * @return a segment of the global scope, or null if the system has none
     */
    public static @Nullable MemorySegment allocate(long bytes) {
        long address;
        try {
            // Windows has the arguments the other way round.
            address = WINDOWS
                    ? (long) ALLOCATE.invokeExact(bytes, ALIGNMENT)
                    : (long) ALLOCATE.invokeExact(ALIGNMENT, bytes);
        } catch (Throwable e) {
            throw new AssertionError("aligned_alloc throws nothing", e);
        }
        return address == 0 ? null : MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /**
     * Gives memory back.
     *
     * @param memory
     *            from {@link #allocate}
     */
    public static void free(MemorySegment memory) {
        try {
            FREE.invokeExact(memory.address());
        } catch (Throwable e) {
            throw new AssertionError("free throws nothing", e);
        }
    }

    /**
     * Gives the system what glibc keeps of freed memory between blocks that are used, in a heap for each of several
     * threads. Takes some milliseconds. Does nothing with other C libraries.
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

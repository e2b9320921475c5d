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
    /** Null if the user denies this module native access; {@link ArenaMemory} takes its place then. */
    private static final @Nullable CLibrary C = load();

    private record CLibrary(MethodHandle allocate, MethodHandle free, @Nullable MethodHandle trim) {
    }

    private static @Nullable CLibrary load() {
        try {
            Linker linker = Linker.nativeLinker();
            SymbolLookup library = WINDOWS
                    ? SymbolLookup.libraryLookup("ucrtbase", Arena.global())
                    : linker.defaultLookup();
            FunctionDescriptor two = FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG);
            return new CLibrary(
                    linker.downcallHandle(library.findOrThrow(WINDOWS ? "_aligned_malloc" : "aligned_alloc"), two),
                    linker.downcallHandle(library.findOrThrow(WINDOWS ? "_aligned_free" : "free"),
                            FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG)),
                    library.find("malloc_trim")
                            .map(address -> linker.downcallHandle(address,
                                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG)))
                            .orElse(null));
        } catch (IllegalCallerException e) {
            // --illegal-native-access=deny without --enable-native-access. The kernels' library, which is refused for
            // the same reason, logs what to do.
            return null;
        }
    }

    private NativeMemory() {
    }

    /**
     * Allocates memory.
     *
     * @param bytes
     *            the size, a multiple of {@link #ALIGNMENT}
     * @return a segment that any thread may use until {@link #free}, or null if the system has not enough memory
     */
    public static @Nullable MemorySegment allocate(long bytes) {
        CLibrary c = C;
        if (c == null) {
            return ArenaMemory.allocate(bytes);
        }
        long address;
        try {
            // The Windows function has the arguments in the reverse order.
            address = WINDOWS
                    ? (long) c.allocate.invokeExact(bytes, ALIGNMENT)
                    : (long) c.allocate.invokeExact(ALIGNMENT, bytes);
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
        CLibrary c = C;
        if (c == null) {
            ArenaMemory.free(memory);
            return;
        }
        try {
            c.free.invokeExact(memory.address());
        } catch (Throwable e) {
            throw new AssertionError("free throws nothing", e);
        }
    }

    /**
     * Releases freed memory that glibc keeps in its heaps to the system, which takes some milliseconds. Has no effect
     * with other C libraries.
     */
    public static void trim() {
        CLibrary c = C;
        MethodHandle trim = c == null ? null : c.trim;
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

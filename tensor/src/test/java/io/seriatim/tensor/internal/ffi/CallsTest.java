package io.seriatim.tensor.internal.ffi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One signature for all functions, compared with the one that each has. */
@SuppressWarnings("restricted")
class CallsTest {
    private static final int ELTWISE_LINEAR = 0x26;

    private @Nullable SymbolLookup library;

    @FunctionalInterface
    private interface Way {
        long call(MemorySegment function, ValueLayout result, String parameters, Object... arguments);
    }

    private static final Way SHARED = (function, _, _, arguments) -> Calls.shared(function, arguments);
    private static final Way OWN = Calls::own;

    @BeforeEach
    void load() {
        Path folder = Dnnl.folder();
        assumeTrue(folder != null && System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("linux"));
        library = SymbolLookup.libraryLookup(folder.resolve("libdnnl.so.3"), Arena.global());
    }

    private MemorySegment function(String name) {
        return Objects.requireNonNull(library).findOrThrow(name);
    }

    private int call(Way way, String name, String parameters, Object... arguments) {
        return (int) way.call(function(name), ValueLayout.JAVA_INT, parameters, arguments);
    }

    /** What is read back of an operation with an int between a pointer and floats. */
    private float[] eltwise(Way way) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            assertEquals(0, call(way, "dnnl_post_ops_create", "p", out.address()));
            long list = out.get(ValueLayout.JAVA_LONG, 0);
            assertEquals(0, call(way, "dnnl_post_ops_append_eltwise", "piff", list, ELTWISE_LINEAR, 0.25f, -3e7f));
            MemorySegment kind = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment numbers = arena.allocate(ValueLayout.JAVA_FLOAT, 2);
            assertEquals(0,
                    call(way, "dnnl_post_ops_get_params_eltwise", "pippp", list, 0, kind.address(), numbers.address(),
                            numbers.address() + Float.BYTES));
            assertEquals(0, call(way, "dnnl_post_ops_destroy", "p", list));
            return new float[]{kind.get(ValueLayout.JAVA_INT, 0), numbers.getAtIndex(ValueLayout.JAVA_FLOAT, 0),
                    numbers.getAtIndex(ValueLayout.JAVA_FLOAT, 1)};
        }
    }

    @Test
    void intsAndFloatsArrive() {
        float[] expected = {ELTWISE_LINEAR, 0.25f, -3e7f};
        assertArrayEquals(expected, eltwise(OWN));
        assertArrayEquals(expected, eltwise(SHARED));
    }

    /** A size that does not fit into an int, of a tensor with rank and type as ints between pointers. */
    private long size(Way way) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment dims = arena.allocateFrom(ValueLayout.JAVA_LONG, 1L << 20, 1L << 14);
            MemorySegment strides = arena.allocateFrom(ValueLayout.JAVA_LONG, 1L << 14, 1L);
            assertEquals(0,
                    call(way, "dnnl_memory_desc_create_with_strides", "pipip", out.address(), 2, dims.address(),
                            DnnlConstants.F32,
                            strides.address()));
            long description = out.get(ValueLayout.JAVA_LONG, 0);
            long size = way.call(function("dnnl_memory_desc_get_size"), ValueLayout.JAVA_LONG, "p", description);
            assertEquals(0, call(way, "dnnl_memory_desc_destroy", "p", description));
            return size;
        }
    }

    @Test
    void resultsOf64BitsAreWhole() {
        assertEquals(1L << 36, size(OWN));
        assertEquals(1L << 36, size(SHARED));
    }

    @Test
    void anErrorsNumberIsTheSame() {
        assertEquals(call(OWN, "dnnl_post_ops_create", "p", 0L), call(SHARED, "dnnl_post_ops_create", "p", 0L));
        assertEquals(2, call(SHARED, "dnnl_post_ops_create", "p", 0L));
    }
}

package io.seriatim.tensor.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Keeps matrix products away from AMX implementations that compute them wrongly. Tiles have rows of 64 bytes. If the
 * inner dimension is longer than one row and not a multiple of it, these implementations of oneDNN 3.11 read the rows
 * of x up to the end of the last tile, into the following rows and beyond the last one, and rely on zeros in the copy
 * of y. With 8-bit operands they do not write all of these zeros, so sums contain what was in memory. With 16-bit
 * floating-point operands a NaN or infinity of one row spreads to others
 * (<a href="https://github.com/uxlfoundation/oneDNN/issues/5717">oneDNN issue 5717</a>).
 */
final class TiledProducts {
    private static final int ROW_BYTES = 64;
    /** In {@code dnnl_cpu_isa_t}, all sets with AMX have this bit. */
    private static final int AMX = 0x800;
    private static final String NAME = "amx";

    private final CheckedCalls calls;
    private final boolean hasTiles;

    TiledProducts(CheckedCalls calls) {
        this.calls = calls;
        hasTiles = (calls.integer("dnnl_get_effective_cpu_isa") & AMX) != 0;
    }

    /**
     * Changes a product to an implementation that computes it rightly.
     *
     * @param product
     *            is destroyed if there is none
     * @param x
     *            its first operand
     * @return null if there is none
     */
    @Nullable
    PrimitiveDescriptor rightly(PrimitiveDescriptor product, MemoryDescriptor x) {
        if (!hasTiles || !hasTail(x)) {
            return product;
        }
        boolean isRight = false;
        try {
            do {
                isRight = !calls.implementation(product).contains(NAME);
            } while (!isRight && calls.nextImplementation(product));
        } finally {
            if (!isRight) {
                calls.call("dnnl_primitive_desc_destroy", product);
            }
        }
        return isRight ? product : null;
    }

    private static boolean endsWithin(long bytes) {
        return bytes > ROW_BYTES && bytes % ROW_BYTES != 0;
    }

    /** Whether the last dimension is longer than a row of a tile and ends within one, or within a pair of elements. */
    private boolean hasTail(MemoryDescriptor x) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            int rank = calls.integer(x, DnnlConstants.QUERY_DIMENSIONS, out);
            long inner = calls.numbers(x, DnnlConstants.QUERY_LENGTHS, rank, out)
                    .getAtIndex(ValueLayout.JAVA_LONG, rank - 1L);
            return switch (calls.integer(x, DnnlConstants.QUERY_DATA_TYPE, out)) {
                case DnnlConstants.S8, DnnlConstants.U8 -> endsWithin(inner);
                case DnnlConstants.F16, DnnlConstants.BF16 -> inner % 2 != 0 || endsWithin(Short.BYTES * inner);
                default -> false;
            };
        }
    }
}

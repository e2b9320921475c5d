package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The source of an allocator's memory, and the check of accesses to it. */
interface RawMemory {
    /** Allocates memory aligned to 64 bytes, or returns null if there is none. */
    @Nullable
    MemorySegment take(long bytes);

    void giveBack(MemorySegment memory);

    /** Releases freed memory that the C library keeps to the system. */
    default void trim() {
        // By default, freed memory is not kept.
    }

    /** Returns a buffer's bytes, or throws an IllegalStateException if the calling thread may not access them. */
    MemorySegment view(Buffer buffer);

    /** Returns the address of the first byte, under the same condition. */
    long address(Buffer buffer);
}

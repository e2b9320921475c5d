package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Where an allocator's memory comes from, and who may look at it. */
interface RawMemory {
    /** Memory aligned to 64 bytes, or null if there is none. */
    @Nullable
    MemorySegment take(long bytes);

    void giveBack(MemorySegment memory);

    /** Has the system get what was given back, if something in between keeps it. */
    default void trim() {
        // Nothing keeps it.
    }

    /** A buffer's bytes, if the calling thread may touch them; else an IllegalStateException. */
    MemorySegment view(Buffer buffer);

    /** Where they begin, under the same condition. */
    long address(Buffer buffer);
}

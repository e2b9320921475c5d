package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The source of an allocator's memory, and the check of accesses to it. A device implements this interface and passes
 * it to its {@link CachingAllocator}, which calls it from any thread and holds no lock meanwhile.
 */
public interface DeviceMemory {
    /**
     * Allocates memory.
     *
     * @param bytes
     *            the size in bytes, a multiple of 64
     * @return memory aligned to 64 bytes, or null if there is none. If host code cannot access the memory, the segment
     * only carries its address and size.
     */
    @Nullable
    MemorySegment take(long bytes);

    /**
     * Frees memory. No launched work uses it any more.
     *
     * @param memory
     *            what {@link #take} returned
     */
    void giveBack(MemorySegment memory);

    /** Releases freed memory that a library below keeps to the system. By default, there is none. */
    default void trim() {
        // By default, freed memory is not kept.
    }

    /**
     * Returns a buffer's bytes for {@link Buffer#segment()}.
     *
     * @param buffer
     *            a buffer of the allocator
     * @param bytes
     *            its bytes
     * @return {@code bytes}
     * @throws IllegalStateException
     *             if the calling thread may not access them, or the buffer is closed. Memory that host code cannot
     *             access must always be refused: an access would end the process.
     */
    MemorySegment view(Buffer buffer, MemorySegment bytes);

    /**
     * Returns the address of a buffer's first byte for {@link Buffer#address()}.
     *
     * @param buffer
     *            a buffer of the allocator
     * @param bytes
     *            its bytes
     * @return the address, as the device's kernels use it
     * @throws IllegalStateException
     *             if the calling thread may not use it, or the buffer is closed
     */
    long address(Buffer buffer, MemorySegment bytes);
}

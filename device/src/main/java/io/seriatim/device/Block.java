package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of memory of a size class, in use or cached. Its fields are guarded by the allocator's lock, but for those
 * that never change.
 */
final class Block {
    final MemorySegment segment;
    final long size;
    /** The stream in whose order it is reused; null when any stream may take it. */
    @Nullable
    StreamCache home;
    /** The next in the free list. */
    @Nullable
    Block next;
    /** Other streams that used it since it was allocated. */
    List<Stream> visitors = List.of();
    /** What must be over before it is used again; set while it waits. */
    List<Event> pending = List.of();
    /** What a race detector knows about these bytes. It outlives the buffers. */
    volatile @Nullable Shadow shadow;

    Block(MemorySegment segment, long size) {
        this.segment = segment;
        this.size = size;
    }
}

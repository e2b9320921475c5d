package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A block of memory of one size class, in use or cached. The allocator's lock guards the fields that are not final. */
final class Block {
    final MemorySegment segment;
    final long size;
    /** The cache of the stream whose order permits immediate reuse, or null if any stream may reuse the block. */
    @Nullable
    StreamCache home;
    /** The next block in the free list. */
    @Nullable
    Block next;
    /** The other streams that have used the block since it was allocated. */
    List<Stream> visitors = List.of();
    /** The events that must be done before the block is reused; set while it is in the waiting list. */
    List<Event> pending = List.of();
    /** The race detector's record of accesses to these bytes. It outlives the buffers. */
    volatile @Nullable Shadow shadow;

    Block(MemorySegment segment, long size) {
        this.segment = segment;
        this.size = size;
    }
}

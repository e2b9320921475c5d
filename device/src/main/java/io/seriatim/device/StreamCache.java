package io.seriatim.device;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The free blocks of one stream, by size class. A stream keeps the cache that its device's allocator has made for it.
 */
// Guarded by the allocator's lock.
public final class StreamCache {
    final Stream stream;
    /** Whether the stream accepts work. */
    boolean open = true;
    private final @Nullable Block[] heads = new @Nullable Block[SizeClass.COUNT];
    /** The number of the last request of each size class. */
    private final long[] asked = new long[SizeClass.COUNT];
    private long requests;
    private long bytes;

    StreamCache(Stream stream) {
        this.stream = stream;
    }

    @Nullable
    Block pop(int sizeClass) {
        asked[sizeClass] = ++requests;
        return take(sizeClass);
    }

    private @Nullable Block take(int sizeClass) {
        Block block = heads[sizeClass];
        if (block != null) {
            heads[sizeClass] = block.next;
            block.next = null;
            bytes -= block.size;
        }
        return block;
    }

    long bytes() {
        return bytes;
    }

    void push(Block block) {
        int sizeClass = SizeClass.index(block.size);
        block.next = heads[sizeClass];
        heads[sizeClass] = block;
        bytes += block.size;
    }

    /**
     * Removes blocks until at most {@code left} bytes remain, beginning with the least recently requested size classes.
     */
    void takeOldest(long left, List<Block> into) {
        while (bytes > left) {
            int oldest = -1;
            for (int i = 0; i < heads.length; i++) {
                if (heads[i] != null && (oldest < 0 || asked[i] < asked[oldest])) {
                    oldest = i;
                }
            }
            for (Block block = take(oldest); block != null; block = bytes > left ? take(oldest) : null) {
                into.add(block);
            }
        }
    }
}

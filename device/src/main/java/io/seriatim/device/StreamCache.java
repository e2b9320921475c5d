package io.seriatim.device;

import org.jspecify.annotations.Nullable;

/** The free blocks of one stream, by size class. Guarded by the allocator's lock. */
final class StreamCache {
    final Stream stream;
    /** Whether the stream takes more work. */
    boolean open = true;
    private final @Nullable Block[] heads = new @Nullable Block[SizeClass.COUNT];

    StreamCache(Stream stream) {
        this.stream = stream;
    }

    @Nullable
    Block pop(int sizeClass) {
        Block block = heads[sizeClass];
        if (block != null) {
            heads[sizeClass] = block.next;
            block.next = null;
        }
        return block;
    }

    long bytes() {
        long bytes = 0;
        for (Block head : heads) {
            for (Block block = head; block != null; block = block.next) {
                bytes += block.size;
            }
        }
        return bytes;
    }

    void push(Block block) {
        int sizeClass = SizeClass.index(block.size);
        block.next = heads[sizeClass];
        heads[sizeClass] = block;
    }
}

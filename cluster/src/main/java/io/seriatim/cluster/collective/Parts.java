package io.seriatim.cluster.collective;

import java.lang.foreign.MemorySegment;

/**
 * Memory in parts of whole elements, one for each rank: the first ones have one element more if it does not divide.
 *
 * @param memory
 *            all parts
 * @param element
 *            the size of an element, in bytes
 * @param count
 *            how many parts
 */
record Parts(MemorySegment memory, int element, int count) {
    private long start(int part) {
        long elements = memory.byteSize() / element;
        return part * (elements / count) + Math.min(part, elements % count);
    }

    /** A part; numbers below 0 count from the end. */
    MemorySegment get(int number) {
        int part = Math.floorMod(number, count);
        long from = start(part);
        return memory.asSlice(from * element, (start(part + 1) - from) * element);
    }
}

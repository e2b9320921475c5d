package io.seriatim.tensor.kernel.portable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Moves an even number of bfloat16 between memory and float[], four times as fast as one after the other: two neighbours are read as one integer, and loops over integers become vector instructions, those over 16 bits do not. In the array all first ones
 * of pairs come before all second ones.
 */
final class HalfPairs {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int SECOND = 0xffff0000;
    private static final int MAGNITUDE = 0x7fffffff;
    private static final int INFINITY = 0x7f800000;
    private static final int QUIET = 0x00400000;

    private HalfPairs() {
    }

    /**
     * Reads.
     *
     * @param memory
     *            where from
     * @param at
     *            the first one's place, in bytes
     * @param into
     *            gets the values
     * @param from
     *            the first one's index there
     * @param count
     *            how many, even
     * @param pairs
     *            room for half as many
     * @param bits
     *            room for as many
     */
    static void load(MemorySegment memory, long at, float[] into, int from, int count, int[] pairs, int[] bits) {
        int half = count / 2;
        MemorySegment.copy(memory, INT, at, pairs, 0, half);
        widen(pairs, bits, half);
        MemorySegment.copy(MemorySegment.ofArray(bits), 0, MemorySegment.ofArray(into), (long) from * Float.BYTES,
                (long) count * Float.BYTES);
    }

    private static void widen(int[] pairs, int[] bits, int half) {
        for (int i = 0; i < half; i++) {
            bits[i] = pairs[i] << 16;
        }
        for (int i = 0; i < half; i++) {
            bits[half + i] = pairs[i] & SECOND;
        }
    }

    /**
     * Writes, rounded to the nearest, ties to even; a NaN stays one.
     *
     * @param memory
     *            where to
     * @param at
     *            the first one's place, in bytes
     * @param values
     *            the values
     * @param count
     *            how many, even
     * @param pairs
     *            room for half as many
     * @param bits
     *            room for as many
     */
    static void store(MemorySegment memory, long at, float[] values, int count, int[] pairs, int[] bits) {
        int half = count / 2;
        MemorySegment.copy(MemorySegment.ofArray(values), 0, MemorySegment.ofArray(bits), 0, (long) count * Float.BYTES);
        narrow(bits, pairs, half);
        MemorySegment.copy(pairs, 0, memory, INT, at, half);
    }

    private static void narrow(int[] bits, int[] pairs, int half) {
        for (int i = 0; i < half; i++) {
            pairs[i] = rounded(bits[i]) >>> 16;
        }
        for (int i = 0; i < half; i++) {
            pairs[i] |= rounded(bits[half + i]) & SECOND;
        }
    }

    private static int rounded(int bits) {
        int isNaN = (INFINITY - (bits & MAGNITUDE)) >> 31;
        int nearest = bits + 0x7fff + (bits >>> 16 & 1);
        return (nearest & ~isNaN) | ((bits | QUIET) & isNaN);
    }
}

package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.internal.BFloat16;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Moves bfloat16 between memory and float[], up to a tile at a time and some times as fast as one after the other: two neighbours are read as one int and widened to one long, which are two floats. Loops over ints and longs become vector
 * instructions, loops over 16 bits do not. The first tiles of ints and longs are used.
 */
final class Halves {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int SECOND = 0xffff0000;
    private static final long LOW = 0xffffffffL;
    private static final int MAGNITUDE = 0x7fffffff;
    private static final int INFINITY = 0x7f800000;
    private static final int QUIET = 0x00400000;

    private Halves() {
    }

    /** Reads so many from a place in bytes on. */
    static void load(MemorySegment memory, long at, float[] into, int from, int count, KernelContext context) {
        int half = count / 2;
        int[] pairs = context.ints(0);
        long[] floats = context.longs(0);
        MemorySegment.copy(memory, INT, at, pairs, 0, half);
        widen(pairs, floats, half);
        MemorySegment.copy(MemorySegment.ofArray(floats), 0, MemorySegment.ofArray(into), (long) from * Float.BYTES,
                (long) half * Long.BYTES);
        if (count % 2 == 1) {
            into[from + count - 1] = BFloat16.toFloat(memory.get(SHORT, at + (long) half * Integer.BYTES));
        }
    }

    private static void widen(int[] pairs, long[] floats, int half) {
        for (int i = 0; i < half; i++) {
            int pair = pairs[i];
            floats[i] = ((long) (pair & SECOND) << 32) | ((pair << 16) & LOW);
        }
    }

    /** Writes so many to a place in bytes, rounded to the nearest, ties to even; a NaN stays one. */
    static void store(MemorySegment memory, long at, float[] values, int count, KernelContext context) {
        int half = count / 2;
        int[] pairs = context.ints(0);
        long[] floats = context.longs(0);
        MemorySegment.copy(MemorySegment.ofArray(values), 0, MemorySegment.ofArray(floats), 0, (long) half * Long.BYTES);
        narrow(floats, pairs, half);
        MemorySegment.copy(pairs, 0, memory, INT, at, half);
        if (count % 2 == 1) {
            memory.set(SHORT, at + (long) half * Integer.BYTES, BFloat16.fromFloat(values[count - 1]));
        }
    }

    private static void narrow(long[] floats, int[] pairs, int half) {
        for (int i = 0; i < half; i++) {
            long both = floats[i];
            pairs[i] = (rounded((int) both) >>> 16) | (rounded((int) (both >>> 32)) & SECOND);
        }
    }

    private static int rounded(int bits) {
        int isNaN = (INFINITY - (bits & MAGNITUDE)) >> 31;
        int nearest = bits + 0x7fff + (bits >>> 16 & 1);
        return (nearest & ~isNaN) | ((bits | QUIET) & isNaN);
    }
}

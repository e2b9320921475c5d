package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.internal.BFloat16;
import io.seriatim.tensor.internal.Floats;
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
        loadInto(memory, at, MemorySegment.ofArray(into), (long) from * Float.BYTES, count, context);
    }

    /** Reads so many, as the bits of floats. */
    static void loadBits(MemorySegment memory, long at, int[] into, int count, KernelContext context) {
        loadInto(memory, at, MemorySegment.ofArray(into), 0, count, context);
    }

    private static void loadInto(MemorySegment memory, long at, MemorySegment into, long from, int count, KernelContext context) {
        int half = count / 2;
        int[] pairs = context.ints(0);
        long[] floats = context.longs(0);
        MemorySegment.copy(memory, INT, at, pairs, 0, half);
        widen(pairs, floats, half);
        MemorySegment.copy(MemorySegment.ofArray(floats), 0, into, from, (long) half * Long.BYTES);
        if (count % 2 == 1) {
            into.set(INT, from + (long) half * Long.BYTES, memory.get(SHORT, at + (long) half * Integer.BYTES) << 16);
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

    /** Rounds a tile of floats to those that bfloat16 has. */
    static void round(float[] values, int count, KernelContext context) {
        int[] bits = context.ints(0);
        MemorySegment.copy(MemorySegment.ofArray(values), 0, MemorySegment.ofArray(bits), 0, (long) count * Float.BYTES);
        round(bits, count);
        MemorySegment.copy(MemorySegment.ofArray(bits), 0, MemorySegment.ofArray(values), 0, (long) count * Float.BYTES);
    }

    private static void round(int[] bits, int count) {
        for (int i = 0; i < count; i++) {
            bits[i] = rounded(bits[i]) & SECOND;
        }
    }

    /** Reads elements of any type and stride; up to a tile. */
    static void loadAny(MemorySegment memory, DType dtype, long at, long stride, float[] into, int count, KernelContext context) {
        if (dtype == DType.BFLOAT16 && stride == 1) {
            load(memory, at, into, 0, count, context);
        } else {
            Floats.load(memory, dtype, at, stride, into, 0, count);
        }
    }

    /** Writes elements of any type and stride; up to a tile. */
    static void storeAny(MemorySegment memory, DType dtype, long at, long stride, float[] values, int count, KernelContext context) {
        if (dtype == DType.BFLOAT16 && stride == 1) {
            store(memory, at, values, count, context);
        } else {
            Floats.store(memory, dtype, at, stride, values, 0, count);
        }
    }

    /** Writes so many, of which the bits of floats are given; they are not rounded. */
    static void storeBits(MemorySegment memory, long at, int[] values, int count, KernelContext context) {
        int half = count / 2;
        int[] pairs = context.ints(0);
        long[] floats = context.longs(0);
        MemorySegment.copy(MemorySegment.ofArray(values), 0, MemorySegment.ofArray(floats), 0, (long) half * Long.BYTES);
        cut(floats, pairs, half);
        MemorySegment.copy(pairs, 0, memory, INT, at, half);
        if (count % 2 == 1) {
            memory.set(SHORT, at + (long) half * Integer.BYTES, (short) (values[count - 1] >>> 16));
        }
    }

    private static void cut(long[] floats, int[] pairs, int half) {
        for (int i = 0; i < half; i++) {
            long both = floats[i];
            pairs[i] = ((int) both >>> 16) | ((int) (both >>> 32) & SECOND);
        }
    }

    private static int rounded(int bits) {
        int isNaN = (INFINITY - (bits & MAGNITUDE)) >> 31;
        int nearest = bits + 0x7fff + (bits >>> 16 & 1);
        return (nearest & ~isNaN) | ((bits | QUIET) & isNaN);
    }
}

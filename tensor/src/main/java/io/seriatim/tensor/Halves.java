package io.seriatim.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Moves many 16-bit floating-point numbers between memory and float[]. The JIT vectorises loops over arrays with its
 * own conversions and with integers of one width, but not loops that reinterpret bits as floats. So memory is copied to
 * arrays of integers, the bits of two numbers are moved at once, and the result is copied to memory that is read as
 * another type.
 */
public final class Halves {
    /** Fewer numbers are moved one by one. */
    static final int FEWEST = 32;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int TILE = 1024;
    private static final int INFINITY = 0x7f800000;
    private static final int MAGNITUDE = 0x7fffffff;
    private static final int QUIET = 0x00400000;
    private static final ThreadLocal<Halves> CURRENT = ThreadLocal.withInitial(Halves::new);

    private final short[] shorts = new short[TILE];
    private final int[] ints = new int[TILE];
    private final long[] longs = new long[TILE / 2];

    private Halves() {
    }

    static void load(MemorySegment memory, DType dtype, long at, float[] into, int from, int count) {
        Halves scratch = CURRENT.get();
        for (int i = 0; i < count; i += TILE) {
            int length = Math.min(TILE, count - i);
            if (dtype == DType.BFLOAT16) {
                scratch.widen(memory, at + (long) i * Short.BYTES, MemorySegment.ofArray(into), from + (long) i,
                        length);
            } else {
                MemorySegment.copy(memory, SHORT, at + (long) i * Short.BYTES, scratch.shorts, 0, length);
                fromHalf(scratch.shorts, into, from + i, length);
            }
        }
    }

    static void store(MemorySegment memory, DType dtype, long at, float[] values, int from, int count) {
        Halves scratch = CURRENT.get();
        for (int i = 0; i < count; i += TILE) {
            int length = Math.min(TILE, count - i);
            if (dtype == DType.BFLOAT16) {
                scratch.narrow(memory, at + (long) i * Short.BYTES, values, from + i, length);
            } else {
                toHalf(scratch.shorts, values, from + i, length);
                MemorySegment.copy(scratch.shorts, 0, memory, SHORT, at + (long) i * Short.BYTES, length);
            }
        }
    }

    /**
     * Reads bfloat16 numbers as the bits of floats.
     *
     * @param memory
     *            where they are
     * @param at
     *            where the first begins, in bytes
     * @param into
     *            the bits
     * @param count
     *            how many
     */
    public static void loadBits(MemorySegment memory, long at, int[] into, int count) {
        Halves scratch = CURRENT.get();
        MemorySegment bits = MemorySegment.ofArray(into);
        for (int i = 0; i < count; i += TILE) {
            scratch.widen(memory, at + (long) i * Short.BYTES, bits, i, Math.min(TILE, count - i));
        }
    }

    /**
     * Writes bfloat16 numbers given as the bits of floats, without rounding.
     *
     * @param memory
     *            where they go
     * @param at
     *            where the first begins, in bytes
     * @param values
     *            the bits
     * @param count
     *            how many
     */
    public static void storeBits(MemorySegment memory, long at, int[] values, int count) {
        Halves scratch = CURRENT.get();
        for (int i = 0; i < count; i += TILE) {
            int length = Math.min(TILE, count - i);
            System.arraycopy(values, i, scratch.ints, 0, length);
            shift(scratch.ints, length);
            scratch.join(memory, at + (long) i * Short.BYTES, length);
        }
    }

    /**
     * Rounds floats to bfloat16 numbers: to the nearest, ties to even; NaN stays NaN.
     *
     * @param values
     *            from the first on
     * @param count
     *            how many
     */
    public static void round(float[] values, int count) {
        Halves scratch = CURRENT.get();
        MemorySegment memory = MemorySegment.ofArray(values);
        for (int i = 0; i < count; i += TILE) {
            int length = Math.min(TILE, count - i);
            long at = (long) i * Float.BYTES;
            MemorySegment.copy(memory, INT, at, scratch.ints, 0, length);
            round(scratch.ints, length);
            lift(scratch.ints, length);
            MemorySegment.copy(scratch.ints, 0, memory, INT, at, length);
        }
    }

    private static void shift(int[] bits, int count) {
        for (int i = 0; i < count; i++) {
            bits[i] >>>= Short.SIZE;
        }
    }

    private static void lift(int[] bits, int count) {
        for (int i = 0; i < count; i++) {
            bits[i] <<= Short.SIZE;
        }
    }

    private void widen(MemorySegment memory, long at, MemorySegment into, long from, int count) {
        int pairs = count / 2;
        MemorySegment.copy(memory, INT, at, ints, 0, pairs);
        spread(ints, longs, pairs);
        MemorySegment.copy(longs, 0, into, LONG, from * Float.BYTES, pairs);
        if (2 * pairs < count) {
            into.set(INT, (from + count - 1) * Float.BYTES,
                    memory.get(SHORT, at + (count - 1L) * Short.BYTES) << Short.SIZE);
        }
    }

    private void narrow(MemorySegment memory, long at, float[] values, int from, int count) {
        MemorySegment.copy(MemorySegment.ofArray(values), INT, (long) from * Float.BYTES, ints, 0, count);
        round(ints, count);
        join(memory, at, count);
    }

    /** Writes the lower halves of the ints. */
    private void join(MemorySegment memory, long at, int count) {
        int pairs = count / 2;
        short last = (short) ints[Math.max(0, count - 1)];
        MemorySegment.copy(MemorySegment.ofArray(ints), LONG, 0, longs, 0, pairs);
        join(longs, ints, pairs);
        MemorySegment.copy(ints, 0, memory, INT, at, pairs);
        if (2 * pairs < count) {
            memory.set(SHORT, at + (count - 1L) * Short.BYTES, last);
        }
    }

    /**
     * The lower half of each int becomes the upper half of the first int in a long, its upper half that of the second.
     */
    private static void spread(int[] from, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            long pair = from[i];
            to[i] = (pair & 0xffff0000L) << 32 | (pair & 0xffffL) << 16;
        }
    }

    /** Rounds numbers to the nearest, ties to even, and moves the upper halves to the lower ones. */
    private static void round(int[] bits, int count) {
        for (int i = 0; i < count; i++) {
            int value = bits[i];
            int rounded = value + 0x7fff + (value >>> 16 & 1);
            // All bits are set for NaN.
            int none = (INFINITY - (value & MAGNITUDE)) >> 31;
            bits[i] = ((rounded & ~none) | ((value | QUIET) & none)) >>> 16;
        }
    }

    private static void join(long[] from, int[] to, int count) {
        for (int i = 0; i < count; i++) {
            long pair = from[i];
            to[i] = (int) (pair | pair >>> 16);
        }
    }

    private static void fromHalf(short[] from, float[] to, int first, int count) {
        for (int i = 0; i < count; i++) {
            to[first + i] = Float.float16ToFloat(from[i]);
        }
    }

    private static void toHalf(short[] to, float[] from, int first, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = Float.floatToFloat16(from[first + i]);
        }
    }
}

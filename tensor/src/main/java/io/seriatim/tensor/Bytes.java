package io.seriatim.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Moves 8-bit whole numbers between memory and float[], by loops that the JIT vectorises: it does so for conversions of
 * signed bytes and of ints, but not for unsigned bytes, and not where a conversion tests its operand, as those of
 * {@link Whole} do.
 */
public final class Bytes {
    private static final int MASK = 0xff;
    private static final int UPPER_BITS = Integer.SIZE - Byte.SIZE;

    private Bytes() {
    }

    static void loadSigned(MemorySegment memory, long at, float[] into, int from, int count) {
        for (int i = 0; i < count; i++) {
            into[from + i] = memory.get(ValueLayout.JAVA_BYTE, at + i);
        }
    }

    static void loadUnsigned(MemorySegment memory, long at, float[] into, int from, int count) {
        loadSigned(memory, at, into, from, count);
        for (int i = from; i < from + count; i++) {
            into[i] = (int) into[i] & MASK;
        }
    }

    /** Writes the last 8 bits of numbers as {@link Whole} converts them, signed or unsigned. */
    static void store(MemorySegment memory, long at, float[] values, int from, int count) {
        if (overflow(values, from, count)) {
            for (int i = 0; i < count; i++) {
                memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) Whole.toInt(values[from + i]));
            }
        } else {
            storeInts(memory, at, values, from, count);
        }
    }

    // A method of its own: beside the other loop, the JIT makes slower code of it.
    private static void storeInts(MemorySegment memory, long at, float[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) (int) values[from + i]);
        }
    }

    /**
     * Casts floats to whole numbers of 8 bits: towards zero, of which the last bits are kept.
     *
     * @param signed
     *            whether the results are from −128 to 127, otherwise from 0 to 255
     * @param values
     *            from the first on
     * @param results
     *            get the whole numbers; may be {@code values}
     * @param count
     *            how many
     */
    public static void cast(boolean signed, float[] values, float[] results, int count) {
        if (overflow(values, 0, count)) {
            for (int i = 0; i < count; i++) {
                int whole = Whole.toInt(values[i]);
                results[i] = signed ? (byte) whole : whole & MASK;
            }
        } else if (signed) {
            for (int i = 0; i < count; i++) {
                results[i] = (int) values[i] << UPPER_BITS >> UPPER_BITS;
            }
        } else {
            for (int i = 0; i < count; i++) {
                results[i] = (int) values[i] & MASK;
            }
        }
    }

    /**
     * Whether a number is too large for an int: Java's cast gives the largest int then, {@link Whole} the smallest. No
     * float is the largest int itself, the only one that is not negative while its successor is.
     */
    private static boolean overflow(float[] values, int from, int count) {
        int bits = 0;
        for (int i = from; i < from + count; i++) {
            int whole = (int) values[i];
            bits |= (whole + 1) & ~whole;
        }
        return bits < 0;
    }
}

package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The exponential of dense float32, within one unit in the last place for all values, including those for which the
 * library's is inaccurate. With n the whole number next to x / ln 2, eˣ is 2ⁿ times a polynomial of x − n ln 2: S. L.
 * Moshier, Cephes Mathematical Library, {@code expf}, of which these are the coefficients. 2ⁿ is multiplied in two
 * parts, since neither the largest nor the smallest results have one that is a normal number. The JIT vectorises the
 * loops. It does not vectorise {@link Float#intBitsToFloat}, so bits become floats through the output's memory.
 */
public final class FloatExp {
    /** The first part of ln 2, of few bits, so that its product with an exponent is exact. */
    public static final float LN2_HIGH = 355f / 512;
    /** The second part of ln 2. */
    public static final float LN2_LOW = (float) -2.12194440e-4;
    private static final ValueLayout.OfInt BITS = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final float LOG2_E = (float) 1.4426950408889634;
    /** Adding and subtracting it rounds to a whole number. */
    private static final float ROUND = 0x1.8p23f;
    /** Beyond these the result is 0 or infinite. */
    private static final float LEAST = -104;
    private static final float MOST = 89;
    private static final int BIAS = 127;
    private static final int MANTISSA_BITS = 23;

    private FloatExp() {
    }

    /**
     * Computes.
     *
     * @param from
     *            the memory of the arguments
     * @param fromAt
     *            the offset of the first element, in bytes
     * @param to
     *            the memory of the results, which may be that of the arguments
     * @param toAt
     *            the offset of the first element, in bytes
     * @param size
     *            the number of elements
     * @param context
     *            the context of the calling thread
     */
    public static void run(MemorySegment from, long fromAt, MemorySegment to, long toAt, long size,
            KernelContext context) {
        float[] values = context.floats(0);
        float[] factors = context.floats(1);
        int[] bits = context.ints(0);
        int[] more = context.ints(1);
        for (long first = 0; first < size; first += KernelContext.TILE) {
            int count = (int) Math.min(KernelContext.TILE, size - first);
            int computed = Math.max(count, FloatLoops.LEAST);
            long at = toAt + first * Float.BYTES;
            MemorySegment.copy(from, FLOAT, fromAt + first * Float.BYTES, values, 0, count);
            clamp(values, computed);
            polynomials(values, factors, computed);
            powers(factors, bits, more, computed);
            MemorySegment.copy(bits, 0, to, BITS, at, count);
            MemorySegment.copy(to, FLOAT, at, factors, 0, count);
            multiply(values, factors, computed);
            MemorySegment.copy(more, 0, to, BITS, at, count);
            MemorySegment.copy(to, FLOAT, at, factors, 0, count);
            multiply(values, factors, computed);
            MemorySegment.copy(values, 0, to, FLOAT, at, count);
        }
    }

    /** Computes the polynomials of values, and the exponents of the powers of 2 that multiply them. */
    private static void polynomials(float[] values, float[] exponents, int count) {
        for (int i = 0; i < count; i++) {
            float x = values[i];
            float n = x * LOG2_E + ROUND - ROUND;
            float t = x - n * LN2_HIGH - n * LN2_LOW;
            float p = (float) 1.9875691500e-4 * t + (float) 1.3981999507e-3;
            p = p * t + (float) 8.3334519073e-3;
            p = p * t + (float) 4.1665795894e-2;
            p = p * t + (float) 1.6666665459e-1;
            p = p * t + (float) 5.0000001201e-1;
            exponents[i] = n;
            values[i] = p * (t * t) + t + 1;
        }
    }

    private static void clamp(float[] values, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = Math.min(Math.max(values[i], LEAST), MOST);
        }
    }

    /** The bits of two powers of 2 whose product is 2 to the power of each. */
    private static void powers(float[] exponents, int[] bits, int[] more, int count) {
        for (int i = 0; i < count; i++) {
            int exponent = (int) exponents[i];
            int half = exponent >> 1;
            bits[i] = (half + BIAS) << MANTISSA_BITS;
            more[i] = (exponent - half + BIAS) << MANTISSA_BITS;
        }
    }

    private static void multiply(float[] values, float[] factors, int count) {
        for (int i = 0; i < count; i++) {
            values[i] *= factors[i];
        }
    }
}

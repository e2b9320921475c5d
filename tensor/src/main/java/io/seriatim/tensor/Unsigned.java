package io.seriatim.tensor;

/**
 * Conversions of uint64 from and to floating-point numbers. A long holds a uint64 as its bits, so that conversions
 * from and to other whole numbers, sums and products are those of a long. {@link Long} has its order, quotients and
 * text, for instance {@link Long#compareUnsigned}.
 */
public final class Unsigned {
    private static final double HALF = 0x1p63;

    private Unsigned() {
    }

    /**
     * The nearest double, ties to even.
     *
     * @param bits
     *            of a uint64
     * @return from 0
     */
    public static double toDouble(long bits) {
        return bits >= 0 ? (double) bits : 2 * (double) halved(bits);
    }

    /**
     * The nearest float, ties to even.
     *
     * @param bits
     *            of a uint64
     * @return from 0
     */
    public static float toFloat(long bits) {
        return bits >= 0 ? (float) bits : 2 * (float) halved(bits);
    }

    /** The last bit says whether anything was cut off, so that the half is rounded as the whole is. */
    private static long halved(long bits) {
        return (bits >>> 1) | (bits & 1);
    }

    /**
     * The whole number towards zero.
     *
     * @param value
     *            a number; a negative one wraps around, as in a conversion from int64, what is too large becomes the
     *            largest, and NaN 0
     * @return the bits of a uint64
     */
    public static long fromDouble(double value) {
        return value >= HALF ? (long) (value - HALF) ^ Long.MIN_VALUE : (long) value;
    }
}

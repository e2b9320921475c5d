package io.seriatim.tensor;

/** Conversions of bfloat16, for which Java has none. */
public final class BFloat16 {
    private BFloat16() {
    }

    /**
     * Widens a bfloat16.
     *
     * @param bits
     *            its 16 bits
     * @return the same number
     */
    public static float toFloat(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /**
     * Rounds to bfloat16: to the nearest, ties to even; NaN stays NaN.
     *
     * @param value
     *            any
     * @return its 16 bits
     */
    public static short fromFloat(float value) {
        int bits = Float.floatToRawIntBits(value);
        int rounded = bits + 0x7fff + (bits >>> 16 & 1);
        return (short) ((Float.isNaN(value) ? bits | 0x400000 : rounded) >>> 16);
    }
}

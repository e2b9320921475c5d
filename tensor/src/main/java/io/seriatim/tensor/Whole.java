package io.seriatim.tensor;

/**
 * Conversions of floating-point numbers to whole ones as processors make them, and therefore NumPy, PaddlePaddle and
 * ONNX Runtime: towards zero, and the least number of the type for NaN and for what the type does not hold. Java's
 * casts would give 0 and the nearest number. Types of 8 and 16 bits keep the last bits of an int, uint32 those of a
 * long.
 */
final class Whole {
    private Whole() {
    }

    static int toInt(double value) {
        return value < 0x1p31 ? (int) value : Integer.MIN_VALUE;
    }

    static long toLong(double value) {
        return value < 0x1p63 ? (long) value : Long.MIN_VALUE;
    }
}

package io.seriatim.tensor;

import java.util.Locale;

/** The type of a tensor's elements. All are stored little-endian. */
public enum DType {
    /** IEEE 754 single precision. */
    FLOAT32(4),
    /** IEEE 754 double precision. */
    FLOAT64(8),
    /** IEEE 754 half precision: 5 bits of exponent, 10 of fraction. */
    FLOAT16(2),
    /** The upper half of a float32: 8 bits of exponent, 7 of fraction. */
    BFLOAT16(2),
    /** Signed, 8 bits. */
    INT8(1),
    /** Signed, 16 bits. */
    INT16(2),
    /** Signed, 32 bits. */
    INT32(4),
    /** Signed, 64 bits. */
    INT64(8),
    /** Unsigned, 8 bits. */
    UINT8(1),
    /** Unsigned, 16 bits. */
    UINT16(2),
    /** Unsigned, 32 bits. */
    UINT32(4),
    /** Unsigned, 64 bits: a long holds it as its bits. */
    UINT64(8),
    /** One byte, 0 or 1. */
    BOOL(1),
    /** A complex number: real and imaginary part, each float32. */
    COMPLEX64(8),
    /** A complex number: real and imaginary part, each float64. */
    COMPLEX128(16);

    private final int bytes;
    private final String label = name().toLowerCase(Locale.ROOT);

    DType(int bytes) {
        this.bytes = bytes;
    }

    /**
     * The size of an element.
     *
     * @return in bytes
     */
    public int bytes() {
        return bytes;
    }

    /**
     * Whether it is one of the two floating-point types of 16 bits.
     *
     * @return false for all others
     */
    public boolean isHalf() {
        return this == FLOAT16 || this == BFLOAT16;
    }

    /**
     * Whether it is one of the four floating-point types.
     *
     * @return false for whole numbers, bool and complex numbers
     */
    public boolean isFloating() {
        return switch (this) {
            case FLOAT32, FLOAT64, FLOAT16, BFLOAT16 -> true;
            default -> false;
        };
    }

    /**
     * Whether it is one of the four types of whole numbers from 0.
     *
     * @return false for all others, and for bool
     */
    public boolean isUnsigned() {
        return switch (this) {
            case UINT8, UINT16, UINT32, UINT64 -> true;
            default -> false;
        };
    }

    /**
     * Whether it is one of the eight types of whole numbers.
     *
     * @return false for floating-point types, bool and complex numbers
     */
    public boolean isWhole() {
        return switch (this) {
            case INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64 -> true;
            default -> false;
        };
    }

    /**
     * Whether it is one of the two types of complex numbers.
     *
     * @return false for all others
     */
    public boolean isComplex() {
        return this == COMPLEX64 || this == COMPLEX128;
    }

    /**
     * Whether functions of such numbers have gradients.
     *
     * @return true for floating-point and complex types
     */
    public boolean isDifferentiable() {
        return isFloating() || isComplex();
    }

    /**
     * The type of the real and of the imaginary part of a complex type.
     *
     * @return float32 for complex64, float64 for complex128, all others themselves
     */
    public DType real() {
        return switch (this) {
            case COMPLEX64 -> FLOAT32;
            case COMPLEX128 -> FLOAT64;
            default -> this;
        };
    }

    /**
     * The type in which kernels compute with it.
     *
     * @return float32 for itself, float16 and bfloat16; float64 for itself; complex types for themselves; int64 for
     * whole numbers and bool. It holds a uint64 as its bits: sums and products are the same, order and quotients are
     * not, see {@link Unsigned}
     */
    public DType arithmetic() {
        return switch (this) {
            case FLOAT32, FLOAT16, BFLOAT16 -> FLOAT32;
            case FLOAT64 -> FLOAT64;
            case COMPLEX64, COMPLEX128 -> this;
            default -> INT64;
        };
    }

    /**
     * The usual name.
     *
     * @return for instance {@code float32}
     */
    @Override
    public String toString() {
        return label;
    }
}

package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The elements that collectives reduce. 16-bit ones are reduced in float32 and rounded to the nearest after each place.
 */
public enum Element {
    /** IEEE 754 single precision. */
    FLOAT32(4) {
        @Override
        void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read) {
            into.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at,
                    how.apply(into.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at),
                            from.get(ValueLayout.JAVA_FLOAT_UNALIGNED, read)));
        }
    },
    /** IEEE 754 double precision. */
    FLOAT64(8) {
        @Override
        void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read) {
            into.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, at,
                    how.apply(into.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, at),
                            from.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, read)));
        }
    },
    /** IEEE 754 half precision. */
    FLOAT16(2) {
        @Override
        void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read) {
            float a = Float.float16ToFloat(into.get(ValueLayout.JAVA_SHORT_UNALIGNED, at));
            float b = Float.float16ToFloat(from.get(ValueLayout.JAVA_SHORT_UNALIGNED, read));
            into.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, Float.floatToFloat16(how.apply(a, b)));
        }
    },
    /** The upper half of a float32. */
    BFLOAT16(2) {
        @Override
        void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read) {
            float a = Float.intBitsToFloat(into.get(ValueLayout.JAVA_SHORT_UNALIGNED, at) << 16);
            float b = Float.intBitsToFloat(from.get(ValueLayout.JAVA_SHORT_UNALIGNED, read) << 16);
            float result = how.apply(a, b);
            int bits = Float.floatToRawIntBits(result);
            int rounded = Float.isNaN(result) ? bits | 0x400000 : bits + 0x7fff + (bits >>> 16 & 1);
            into.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) (rounded >>> 16));
        }
    },
    /** Signed, 32 bits. */
    INT32(4) {
        @Override
        void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read) {
            into.set(ValueLayout.JAVA_INT_UNALIGNED, at,
                    (int) how.apply((long) into.get(ValueLayout.JAVA_INT_UNALIGNED, at),
                            (long) from.get(ValueLayout.JAVA_INT_UNALIGNED, read)));
        }
    },
    /** Signed, 64 bits. */
    INT64(8) {
        @Override
        void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read) {
            into.set(ValueLayout.JAVA_LONG_UNALIGNED, at,
                    how.apply(into.get(ValueLayout.JAVA_LONG_UNALIGNED, at),
                            from.get(ValueLayout.JAVA_LONG_UNALIGNED, read)));
        }
    };

    private final int bytes;

    Element(int bytes) {
        this.bytes = bytes;
    }

    /**
     * Its size.
     *
     * @return in bytes
     */
    public int bytes() {
        return bytes;
    }

    /** One element becomes what it and another give. */
    abstract void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read);
}

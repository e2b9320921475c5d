package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The element types of collectives. 16-bit elements are reduced in float32, and the result is rounded to nearest after
 * each rank.
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
    /** bfloat16: the upper half of a float32. */
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
    /** Signed 32-bit integer. */
    INT32(4) {
        @Override
        void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read) {
            into.set(ValueLayout.JAVA_INT_UNALIGNED, at,
                    (int) how.apply((long) into.get(ValueLayout.JAVA_INT_UNALIGNED, at),
                            (long) from.get(ValueLayout.JAVA_INT_UNALIGNED, read)));
        }
    },
    /** Signed 64-bit integer. */
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
     * Returns the size of an element.
     *
     * @return the size in bytes
     */
    public int bytes() {
        return bytes;
    }

    /** Replaces one element by the reduction of it and another. */
    abstract void reduce(Reduction how, MemorySegment into, long at, MemorySegment from, long read);
}

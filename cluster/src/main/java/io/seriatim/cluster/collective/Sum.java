package io.seriatim.cluster.collective;

import io.seriatim.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Adds elements of one type. Memory is copied to arrays tile by tile: the JIT vectorises loops over arrays. Floats of
 * 16 bits never come here: they are widened before.
 */
abstract class Sum {
    static final int TILE = 2048;

    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final int element;

    private Sum(int element) {
        this.element = element;
    }

    static Sum of(DType type) {
        return switch (type) {
            case FLOAT32, FLOAT16, BFLOAT16 -> new OfFloats();
            case FLOAT64 -> new OfDoubles();
            case INT32 -> new OfInts();
            case INT64 -> new OfLongs();
            default -> throw new IllegalArgumentException("elements of type " + type + " are not summed between "
                    + "ranks: use a floating-point type, int32 or int64");
        };
    }

    /** The size of an element as it is summed, in bytes. */
    final int element() {
        return element;
    }

    /** Stores first + second; each begins at its own position in bytes. */
    final void add(MemorySegment first, long firstAt, MemorySegment second, long secondAt, MemorySegment into,
            long intoAt, long bytes) {
        for (long done = 0; done < bytes; done += (long) TILE * element) {
            int count = (int) (Math.min((long) TILE * element, bytes - done) / element);
            addTile(first, firstAt + done, second, secondAt + done, into, intoAt + done, count);
        }
    }

    abstract void addTile(MemorySegment first, long firstAt, MemorySegment second, long secondAt, MemorySegment into,
            long intoAt, int count);

    /** Gives all NaNs the same bits: which operand's bits an addition keeps differs between processes. */
    void unifyNaNs(MemorySegment data) {
    }

    private static final class OfFloats extends Sum {
        private final float[] left = new float[TILE];
        private final float[] right = new float[TILE];

        OfFloats() {
            super(Float.BYTES);
        }

        @Override
        void addTile(MemorySegment first, long firstAt, MemorySegment second, long secondAt, MemorySegment into,
                long intoAt, int count) {
            MemorySegment.copy(first, FLOAT, firstAt, left, 0, count);
            MemorySegment.copy(second, FLOAT, secondAt, right, 0, count);
            for (int i = 0; i < count; i++) {
                left[i] += right[i];
            }
            MemorySegment.copy(left, 0, into, FLOAT, intoAt, count);
        }

        @Override
        void unifyNaNs(MemorySegment data) {
            for (long at = 0; at < data.byteSize(); at += Float.BYTES) {
                if (Float.isNaN(data.get(FLOAT, at))) {
                    data.set(FLOAT, at, Float.NaN);
                }
            }
        }
    }

    private static final class OfDoubles extends Sum {
        private final double[] left = new double[TILE];
        private final double[] right = new double[TILE];

        OfDoubles() {
            super(Double.BYTES);
        }

        @Override
        void addTile(MemorySegment first, long firstAt, MemorySegment second, long secondAt, MemorySegment into,
                long intoAt, int count) {
            MemorySegment.copy(first, DOUBLE, firstAt, left, 0, count);
            MemorySegment.copy(second, DOUBLE, secondAt, right, 0, count);
            for (int i = 0; i < count; i++) {
                left[i] += right[i];
            }
            MemorySegment.copy(left, 0, into, DOUBLE, intoAt, count);
        }

        @Override
        void unifyNaNs(MemorySegment data) {
            for (long at = 0; at < data.byteSize(); at += Double.BYTES) {
                if (Double.isNaN(data.get(DOUBLE, at))) {
                    data.set(DOUBLE, at, Double.NaN);
                }
            }
        }
    }

    private static final class OfInts extends Sum {
        private final int[] left = new int[TILE];
        private final int[] right = new int[TILE];

        OfInts() {
            super(Integer.BYTES);
        }

        @Override
        void addTile(MemorySegment first, long firstAt, MemorySegment second, long secondAt, MemorySegment into,
                long intoAt, int count) {
            MemorySegment.copy(first, INT, firstAt, left, 0, count);
            MemorySegment.copy(second, INT, secondAt, right, 0, count);
            for (int i = 0; i < count; i++) {
                left[i] += right[i];
            }
            MemorySegment.copy(left, 0, into, INT, intoAt, count);
        }
    }

    private static final class OfLongs extends Sum {
        private final long[] left = new long[TILE];
        private final long[] right = new long[TILE];

        OfLongs() {
            super(Long.BYTES);
        }

        @Override
        void addTile(MemorySegment first, long firstAt, MemorySegment second, long secondAt, MemorySegment into,
                long intoAt, int count) {
            MemorySegment.copy(first, LONG, firstAt, left, 0, count);
            MemorySegment.copy(second, LONG, secondAt, right, 0, count);
            for (int i = 0; i < count; i++) {
                left[i] += right[i];
            }
            MemorySegment.copy(left, 0, into, LONG, intoAt, count);
        }
    }
}

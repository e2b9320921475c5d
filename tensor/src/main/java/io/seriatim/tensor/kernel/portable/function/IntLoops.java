package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Sums of products of whole numbers of up to 32 bits, of which the last 32 bits are kept, by loops that the JIT
 * vectorises.
 */
public final class IntLoops {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MASK = 0xff;

    private IntLoops() {
    }

    /** Loads a row of int32, int8 or uint8 from an address on. */
    public static void load(Tensor tensor, long at, long stride, int[] into, int from, int count) {
        if (count == 0) {
            return;
        }
        MemorySegment memory = tensor.memory();
        DType dtype = tensor.dtype();
        if (dtype == DType.INT32) {
            ints(memory, at, stride, into, from, count);
            return;
        }
        bytes(memory, at, stride, into, from, count);
        if (dtype == DType.UINT8) {
            for (int i = from; i < from + count; i++) {
                into[i] &= MASK;
            }
        }
    }

    /** x becomes the sum, the difference or the product of x and y. */
    public static void combine(Binary.Function function, int[] x, int[] y, int count) {
        combine(function, x, y, x, count);
    }

    /** The sums, the differences or the products of x and y; the arrays may be the same. */
    public static void combine(Binary.Function function, int[] x, int[] y, int[] out, int count) {
        switch (function) {
            case ADD -> add(x, y, out, count);
            case SUBTRACT -> subtract(x, y, out, count);
            case MULTIPLY -> multiply(x, y, out, count);
            default -> throw new IllegalArgumentException("No loop for " + function);
        }
    }

    private static void add(int[] x, int[] y, int[] out, int count) {
        for (int i = 0; i < count; i++) {
            out[i] = x[i] + y[i];
        }
    }

    private static void subtract(int[] x, int[] y, int[] out, int count) {
        for (int i = 0; i < count; i++) {
            out[i] = x[i] - y[i];
        }
    }

    private static void multiply(int[] x, int[] y, int[] out, int count) {
        for (int i = 0; i < count; i++) {
            out[i] = x[i] * y[i];
        }
    }

    /** Rounds to float32. */
    public static void toFloats(int[] x, float[] out, int count) {
        for (int i = 0; i < count; i++) {
            out[i] = x[i];
        }
    }

    /** The whole numbers that floats are. */
    public static void toInts(float[] x, int[] out, int count) {
        for (int i = 0; i < count; i++) {
            out[i] = (int) x[i];
        }
    }

    private static void ints(MemorySegment memory, long at, long stride, int[] into, int from, int count) {
        if (stride == 0) {
            Arrays.fill(into, from, from + count, memory.get(INT, at));
            return;
        }
        if (stride == 1) {
            MemorySegment.copy(memory, INT, at, into, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            into[from + i] = memory.get(INT, at + i * stride * Integer.BYTES);
        }
    }

    private static void bytes(MemorySegment memory, long at, long stride, int[] into, int from, int count) {
        if (stride == 1) {
            for (int i = 0; i < count; i++) {
                into[from + i] = memory.get(ValueLayout.JAVA_BYTE, at + i);
            }
            return;
        }
        for (int i = 0; i < count; i++) {
            into[from + i] = memory.get(ValueLayout.JAVA_BYTE, at + i * stride);
        }
    }

    /** Stores a row of int32. */
    public static void store(Tensor tensor, long at, long stride, int[] values, int count) {
        store(tensor, at, stride, values, 0, count);
    }

    /** Stores a row of int32, from an index on. */
    public static void store(Tensor tensor, long at, long stride, int[] values, int from, int count) {
        MemorySegment memory = tensor.memory();
        if (stride == 1) {
            MemorySegment.copy(values, from, memory, INT, at, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            memory.set(INT, at + i * stride * Integer.BYTES, values[from + i]);
        }
    }

    /**
     * Adds a row times a matrix to sums.
     *
     * @param panel
     *            the rows of the matrix, one after the other, and somewhere the row
     * @param row
     *            where the row begins
     * @param width
     *            the columns of the matrix
     * @param k
     *            its rows
     * @param sums
     *            one for each column
     */
    public static void multiply(int[] panel, int row, int width, int k, int[] sums) {
        int p = 0;
        for (; p + 3 < k; p += 4) {
            int a = panel[row + p];
            int b = panel[row + p + 1];
            int c = panel[row + p + 2];
            int d = panel[row + p + 3];
            int at = p * width;
            for (int j = 0; j < width; j++) {
                sums[j] += a * panel[at + j] + b * panel[at + width + j] + c * panel[at + 2 * width + j]
                        + d * panel[at + 3 * width + j];
            }
        }
        for (; p < k; p++) {
            int a = panel[row + p];
            int at = p * width;
            for (int j = 0; j < width; j++) {
                sums[j] += a * panel[at + j];
            }
        }
    }
}

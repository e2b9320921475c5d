// Generated from src/main/templates/Elements.java.template by ElementsTemplateTest: edit the template instead.
package io.seriatim.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Moves elements of any type between memory and double[], for float64 arithmetic.
 *
 * <p>
 * Conversions are those of a cast: to a whole number towards zero, wrapping around; to bool 1 for everything but 0; to
 * a smaller floating-point type to the nearest, ties to even; of a complex number to its real part. What is written as
 * a complex number gets the imaginary part 0.
 */
public final class Doubles {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Of the square blocks that are transposed fastest. */
    private static final int SIDE = 32;
    /** Rows up to so long are moved without a call for each. */
    private static final int SHORT_ROW = 8;

    private Doubles() {
    }

    /**
     * Reads elements.
     *
     * @param memory
     *            the memory that is read
     * @param dtype
     *            the type of the elements
     * @param at
     *            the offset of the first element, in bytes
     * @param stride
     *            the distance between neighbours, in elements
     * @param into
     *            the array that receives the values
     * @param from
     *            the index of the first value in {@code into}
     * @param count
     *            the number of elements
     */
    public static void load(MemorySegment memory, DType dtype, long at, long stride, double[] into, int from,
            int count) {
        if (count == 0) {
            return;
        }
        if (stride == 1 && dtype == DType.FLOAT64) {
            MemorySegment.copy(memory, DOUBLE, at, into, from, count);
        } else if (stride == 0) {
            loadAny(memory, dtype, at, 0, into, from, 1);
            Arrays.fill(into, from + 1, from + count, into[from]);
        } else if (stride != 1 || !loadDense(memory, dtype, at, into, from, count)) {
            loadAny(memory, dtype, at, stride, into, from, count);
        }
    }

    // A method of its own: the common cases stay small enough for the JIT to inline.
    private static void loadAny(MemorySegment memory, DType dtype, long at, long stride, double[] into, int from,
            int count) {
        long step = stride * dtype.bytes();
        switch (dtype) {
            case FLOAT32 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(FLOAT, at + i * step);
                }
            }
            case FLOAT64 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(DOUBLE, at + i * step);
                }
            }
            case FLOAT16 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = Float.float16ToFloat(memory.get(SHORT, at + i * step));
                }
            }
            case BFLOAT16 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = BFloat16.toFloat(memory.get(SHORT, at + i * step));
                }
            }
            case INT8 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(ValueLayout.JAVA_BYTE, at + i * step);
                }
            }
            case INT16 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(SHORT, at + i * step);
                }
            }
            case INT32 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(INT, at + i * step);
                }
            }
            case INT64 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(LONG, at + i * step);
                }
            }
            case UINT8 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = (memory.get(ValueLayout.JAVA_BYTE, at + i * step) & 0xff);
                }
            }
            case UINT16 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = (memory.get(SHORT, at + i * step) & 0xffff);
                }
            }
            case UINT32 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = (memory.get(INT, at + i * step) & 0xffff_ffffL);
                }
            }
            case UINT64 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = Unsigned.toDouble(memory.get(LONG, at + i * step));
                }
            }
            case BOOL -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = (memory.get(ValueLayout.JAVA_BYTE, at + i * step) & 0xff);
                }
            }
            case COMPLEX64 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(FLOAT, at + i * step);
                }
            }
            case COMPLEX128 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(DOUBLE, at + i * step);
                }
            }
        }
    }

    /** Whether a frequent type was read, by a loop with a constant step, which the JIT vectorises. */
    private static boolean loadDense(MemorySegment memory, DType dtype, long at, double[] into, int from, int count) {
        switch (dtype) {
            case FLOAT32 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(FLOAT, at + i * 4L);
                }
            }
            case INT32 -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = memory.get(INT, at + i * 4L);
                }
            }
            case UINT8, BOOL -> {
                for (int i = 0; i < count; i++) {
                    into[from + i] = (memory.get(ValueLayout.JAVA_BYTE, at + i) & 0xff);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /**
     * Writes elements.
     *
     * @param memory
     *            the memory that is written
     * @param dtype
     *            the type of the elements
     * @param at
     *            the offset of the first element, in bytes
     * @param stride
     *            the distance between neighbours, in elements
     * @param values
     *            the values
     * @param from
     *            the index of the first value in {@code values}
     * @param count
     *            the number of elements
     */
    public static void store(MemorySegment memory, DType dtype, long at, long stride, double[] values, int from,
            int count) {
        if (count == 0) {
            return;
        }
        if (stride == 1 && dtype == DType.FLOAT64) {
            MemorySegment.copy(values, from, memory, DOUBLE, at, count);
        } else if (stride != 1 || !storeDense(memory, dtype, at, values, from, count)) {
            storeAny(memory, dtype, at, stride, values, from, count);
        }
    }

    private static void storeAny(MemorySegment memory, DType dtype, long at, long stride, double[] values, int from,
            int count) {
        long step = stride * dtype.bytes();
        switch (dtype) {
            case FLOAT32 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(FLOAT, at + i * step, (float) values[from + i]);
                }
            }
            case FLOAT64 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(DOUBLE, at + i * step, values[from + i]);
                }
            }
            case FLOAT16 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(SHORT, at + i * step, Float.floatToFloat16((float) values[from + i]));
                }
            }
            case BFLOAT16 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(SHORT, at + i * step, BFloat16.fromFloat((float) values[from + i]));
                }
            }
            case INT8 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(ValueLayout.JAVA_BYTE, at + i * step, (byte) Whole.toInt(values[from + i]));
                }
            }
            case INT16 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(SHORT, at + i * step, (short) Whole.toInt(values[from + i]));
                }
            }
            case INT32 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(INT, at + i * step, Whole.toInt(values[from + i]));
                }
            }
            case INT64 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(LONG, at + i * step, Whole.toLong(values[from + i]));
                }
            }
            case UINT8 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(ValueLayout.JAVA_BYTE, at + i * step, (byte) Whole.toInt(values[from + i]));
                }
            }
            case UINT16 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(SHORT, at + i * step, (short) Whole.toInt(values[from + i]));
                }
            }
            case UINT32 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(INT, at + i * step, (int) Whole.toLong(values[from + i]));
                }
            }
            case UINT64 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(LONG, at + i * step, Unsigned.fromDouble(values[from + i]));
                }
            }
            case BOOL -> {
                for (int i = 0; i < count; i++) {
                    memory.set(ValueLayout.JAVA_BYTE, at + i * step, bool(values[from + i]));
                }
            }
            case COMPLEX64 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(FLOAT, at + i * step, (float) values[from + i]);
                    memory.set(FLOAT, at + i * step + Float.BYTES, 0f);
                }
            }
            case COMPLEX128 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(DOUBLE, at + i * step, values[from + i]);
                    memory.set(DOUBLE, at + i * step + Double.BYTES, 0d);
                }
            }
        }
    }

    /** 1 for what is not 0, without a branch. */
    private static byte bool(double value) {
        long bits = Double.doubleToRawLongBits(value) & Long.MAX_VALUE;
        return (byte) (-bits >>> (Long.SIZE - 1));
    }

    private static boolean storeDense(MemorySegment memory, DType dtype, long at, double[] values, int from,
            int count) {
        switch (dtype) {
            case FLOAT32 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(FLOAT, at + i * 4L, (float) values[from + i]);
                }
            }
            case INT32 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(INT, at + i * 4L, Whole.toInt(values[from + i]));
                }
            }
            case UINT8 -> {
                for (int i = 0; i < count; i++) {
                    memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) Whole.toInt(values[from + i]));
                }
            }
            case BOOL -> {
                for (int i = 0; i < count; i++) {
                    memory.set(ValueLayout.JAVA_BYTE, at + i, bool(values[from + i]));
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /**
     * Reads a block of elements, row after row, whatever the strides: repeated rows and columns are read once, and of a
     * block that is transposed in memory the columns are read as lines.
     *
     * @param memory
     *            the memory that is read
     * @param dtype
     *            the type of the elements
     * @param at
     *            the offset of the first element, in bytes
     * @param rowStride
     *            the distance between neighbours in a column, in elements
     * @param rows
     *            the number of rows
     * @param stride
     *            the distance between neighbours in a row, in elements
     * @param columns
     *            the number of columns
     * @param into
     *            the array that receives the values, from its beginning
     * @param scratch
     *            another array that is as long; it holds anything then
     */
    public static void loadBlock(MemorySegment memory, DType dtype, long at, long rowStride, int rows, long stride,
            int columns, double[] into, double[] scratch) {
        if (rows == 1 || rowStride == stride * columns) {
            load(memory, dtype, at, stride, into, 0, rows * columns);
        } else if (rowStride == 0) {
            load(memory, dtype, at, stride, into, 0, columns);
            for (int done = columns; done < rows * columns; done *= 2) {
                System.arraycopy(into, 0, into, done, Math.min(done, rows * columns - done));
            }
        } else if (stride == 0) {
            load(memory, dtype, at, rowStride, scratch, 0, rows);
            repeat(scratch, rows, columns, into);
        } else if (isTransposed(rowStride, stride)) {
            for (int j = 0; j < columns; j++) {
                load(memory, dtype, at + j * stride * dtype.bytes(), rowStride, scratch, j * rows, rows);
            }
            transpose(scratch, /* rows= */ columns, /* columns= */ rows, into);
        } else {
            for (int i = 0; i < rows; i++) {
                load(memory, dtype, at + i * rowStride * dtype.bytes(), stride, into, i * columns, columns);
            }
        }
    }

    /**
     * Writes a block of elements, row after row, whatever the strides.
     *
     * @param memory
     *            the memory that is written
     * @param dtype
     *            the type of the elements
     * @param at
     *            the offset of the first element, in bytes
     * @param rowStride
     *            the distance between neighbours in a column, in elements
     * @param rows
     *            the number of rows
     * @param stride
     *            the distance between neighbours in a row, in elements
     * @param columns
     *            the number of columns
     * @param values
     *            the values, from the beginning of the array
     * @param scratch
     *            another array that is as long; it holds anything then
     */
    public static void storeBlock(MemorySegment memory, DType dtype, long at, long rowStride, int rows, long stride,
            int columns, double[] values, double[] scratch) {
        if (rows == 1 || rowStride == stride * columns) {
            store(memory, dtype, at, stride, values, 0, rows * columns);
        } else if (isTransposed(rowStride, stride)) {
            transpose(values, rows, columns, scratch);
            for (int j = 0; j < columns; j++) {
                store(memory, dtype, at + j * stride * dtype.bytes(), rowStride, scratch, j * rows, rows);
            }
        } else {
            for (int i = 0; i < rows; i++) {
                store(memory, dtype, at + i * rowStride * dtype.bytes(), stride, values, i * columns, columns);
            }
        }
    }

    /** Each number so many times. */
    private static void repeat(double[] numbers, int rows, int columns, double[] into) {
        if (columns > SHORT_ROW) {
            for (int i = 0; i < rows; i++) {
                Arrays.fill(into, i * columns, (i + 1) * columns, numbers[i]);
            }
            return;
        }
        for (int j = 0; j < columns; j++) {
            for (int i = 0, at = j; i < rows; i++, at += columns) {
                into[at] = numbers[i];
            }
        }
    }

    private static boolean isTransposed(long rowStride, long stride) {
        return stride != 1 && Math.abs(rowStride) < Math.abs(stride);
    }

    private static void transpose(double[] from, int rows, int columns, double[] to) {
        if (rows == SIDE && columns == SIDE) {
            transposeSquare(from, to);
            return;
        }
        // The longer loop is the inner one.
        for (int j = 0; j < columns && columns <= rows; j++) {
            for (int i = 0; i < rows; i++) {
                to[j * rows + i] = from[i * columns + j];
            }
        }
        for (int i = 0; i < rows && columns > rows; i++) {
            for (int j = 0; j < columns; j++) {
                to[j * rows + i] = from[i * columns + j];
            }
        }
    }

    /** With a constant length, for which the JIT needs no checks of the indexes. */
    private static void transposeSquare(double[] from, double[] to) {
        for (int j = 0; j < SIDE; j++) {
            for (int i = 0; i < SIDE; i++) {
                to[j * SIDE + i] = from[i * SIDE + j];
            }
        }
    }

    /**
     * Reads elements of a tensor, in row-major order.
     *
     * @param tensor
     *            a tensor with strides
     * @param first
     *            the number of the first element in row-major order
     * @param into
     *            the array that receives the values
     * @param from
     *            the index of the first value in {@code into}
     * @param count
     *            the number of elements
     */
    public static void load(Tensor tensor, long first, double[] into, int from, int count) {
        try {
            loadElements(tensor, first, into, from, count);
        } finally {
            // The segment does not keep the buffer reachable: see Tensor#memory.
            Reference.reachabilityFence(tensor);
        }
    }

    private static void loadElements(Tensor tensor, long first, double[] into, int from, int count) {
        MemorySegment memory = tensor.memory();
        DType dtype = tensor.dtype();
        if (tensor.spec().isRowMajor()) {
            load(memory, dtype, tensor.offset() + first * dtype.bytes(), 1, into, from, count);
            return;
        }
        LoopNest nest = LoopNest.of(tensor.shape(), tensor.spec().strides());
        long index = first;
        int done = 0;
        while (done < count) {
            long row = index / nest.rowLength();
            long column = index - row * nest.rowLength();
            int length = (int) Math.min(count - done, nest.rowLength() - column);
            long at = tensor.offset() + (nest.offset(0, row) + column * nest.rowStride(0)) * dtype.bytes();
            load(memory, dtype, at, nest.rowStride(0), into, from + done, length);
            done += length;
            index += length;
        }
    }

    /**
     * Writes elements of a tensor, in row-major order.
     *
     * @param tensor
     *            a tensor with strides
     * @param first
     *            the number of the first element in row-major order
     * @param values
     *            the values
     * @param from
     *            the index of the first value in {@code values}
     * @param count
     *            the number of elements
     */
    public static void store(Tensor tensor, long first, double[] values, int from, int count) {
        try {
            storeElements(tensor, first, values, from, count);
        } finally {
            // The segment does not keep the buffer reachable: see Tensor#memory.
            Reference.reachabilityFence(tensor);
        }
    }

    private static void storeElements(Tensor tensor, long first, double[] values, int from, int count) {
        MemorySegment memory = tensor.memory();
        DType dtype = tensor.dtype();
        if (tensor.spec().isRowMajor()) {
            store(memory, dtype, tensor.offset() + first * dtype.bytes(), 1, values, from, count);
            return;
        }
        LoopNest nest = LoopNest.of(tensor.shape(), tensor.spec().strides());
        long index = first;
        int done = 0;
        while (done < count) {
            long row = index / nest.rowLength();
            long column = index - row * nest.rowLength();
            int length = (int) Math.min(count - done, nest.rowLength() - column);
            long at = tensor.offset() + (nest.offset(0, row) + column * nest.rowStride(0)) * dtype.bytes();
            store(memory, dtype, at, nest.rowStride(0), values, from + done, length);
            done += length;
            index += length;
        }
    }

    /**
     * Reads one element.
     *
     * @param memory
     *            the memory that is read
     * @param dtype
     *            the type of the element
     * @param at
     *            the offset of the element, in bytes
     * @return the value of the element
     */
    public static double get(MemorySegment memory, DType dtype, long at) {
        return switch (dtype) {
            case FLOAT32 -> memory.get(FLOAT, at);
            case FLOAT64 -> memory.get(DOUBLE, at);
            case FLOAT16 -> Float.float16ToFloat(memory.get(SHORT, at));
            case BFLOAT16 -> BFloat16.toFloat(memory.get(SHORT, at));
            case INT8 -> memory.get(ValueLayout.JAVA_BYTE, at);
            case INT16 -> memory.get(SHORT, at);
            case INT32 -> memory.get(INT, at);
            case INT64 -> memory.get(LONG, at);
            case UINT8 -> (memory.get(ValueLayout.JAVA_BYTE, at) & 0xff);
            case UINT16 -> (memory.get(SHORT, at) & 0xffff);
            case UINT32 -> (memory.get(INT, at) & 0xffff_ffffL);
            case UINT64 -> Unsigned.toDouble(memory.get(LONG, at));
            case BOOL -> (memory.get(ValueLayout.JAVA_BYTE, at) & 0xff);
            case COMPLEX64 -> memory.get(FLOAT, at);
            case COMPLEX128 -> memory.get(DOUBLE, at);
        };
    }

    /**
     * Writes one element.
     *
     * @param memory
     *            the memory that is written
     * @param dtype
     *            the type of the element
     * @param at
     *            the offset of the element, in bytes
     * @param value
     *            the value, which is converted
     */
    public static void set(MemorySegment memory, DType dtype, long at, double value) {
        switch (dtype) {
            case FLOAT32 -> memory.set(FLOAT, at, (float) value);
            case FLOAT64 -> memory.set(DOUBLE, at, value);
            case FLOAT16 -> memory.set(SHORT, at, Float.floatToFloat16((float) value));
            case BFLOAT16 -> memory.set(SHORT, at, BFloat16.fromFloat((float) value));
            case INT8 -> memory.set(ValueLayout.JAVA_BYTE, at, (byte) Whole.toInt(value));
            case INT16 -> memory.set(SHORT, at, (short) Whole.toInt(value));
            case INT32 -> memory.set(INT, at, Whole.toInt(value));
            case INT64 -> memory.set(LONG, at, Whole.toLong(value));
            case UINT8 -> memory.set(ValueLayout.JAVA_BYTE, at, (byte) Whole.toInt(value));
            case UINT16 -> memory.set(SHORT, at, (short) Whole.toInt(value));
            case UINT32 -> memory.set(INT, at, (int) Whole.toLong(value));
            case UINT64 -> memory.set(LONG, at, Unsigned.fromDouble(value));
            case BOOL -> memory.set(ValueLayout.JAVA_BYTE, at, (byte) (value != 0 ? 1 : 0));
            case COMPLEX64 -> {
                memory.set(FLOAT, at, (float) value);
                memory.set(FLOAT, at + Float.BYTES, 0f);
            }
            case COMPLEX128 -> {
                memory.set(DOUBLE, at, value);
                memory.set(DOUBLE, at + Double.BYTES, 0d);
            }
        }
    }
}

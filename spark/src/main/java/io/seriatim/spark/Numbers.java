package io.seriatim.spark;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.unsafe.Platform;
import org.jspecify.annotations.Nullable;
import scala.collection.Iterable;
import scala.collection.Iterator;

/** The numbers of some cells of a column, in order: those of numbers, arrays, ML vectors and bytes. */
final class Numbers {
    private static final int SOME = 256;

    private final String column;
    private final DType type;
    /** One of them holds the numbers: whole types long, others double, but float32 its own. */
    private float[] floats = {};
    private long[] longs = {};
    private double[] doubles = {};
    /** The cell that is read. */
    private double[] copied = {};
    private int size;

    Numbers(String column, DType type) {
        if (type.isComplex()) {
            throw new IllegalArgumentException("Column '" + column + "' is for " + type
                    + ", but a data frame has no complex numbers");
        }
        this.column = column;
        this.type = type;
    }

    private boolean isWhole() {
        return type.isWhole() || type == DType.BOOL;
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    /** Removes all numbers but the first ones. */
    void keep(int count) {
        size = count;
    }

    /** Appends numbers. */
    void addAll(float[] values) {
        if (type == DType.FLOAT32) {
            reserve(values.length);
            System.arraycopy(values, 0, floats, size, values.length);
            size += values.length;
        } else {
            for (float each : values) {
                real(each);
            }
        }
    }

    /** Appends numbers. */
    void addAll(double[] values) {
        addAll(values, values.length);
    }

    private void addAll(double[] values, int count) {
        if (type == DType.FLOAT32) {
            reserve(count);
            float[] target = floats;
            int from = size;
            for (int i = 0; i < count; i++) {
                target[from + i] = (float) values[i];
            }
            size += count;
        } else {
            for (int i = 0; i < count; i++) {
                real(values[i]);
            }
        }
    }

    /** Appends the float32 numbers of some memory, as Spark's arrays have them. */
    void addFloats(Object memory, long offset, int count) {
        if (type == DType.FLOAT32) {
            reserve(count);
            Platform.copyMemory(memory, offset, floats, Platform.FLOAT_ARRAY_OFFSET + (long) Float.BYTES * size,
                    (long) Float.BYTES * count);
            size += count;
        } else {
            float[] values = new float[count];
            Platform.copyMemory(memory, offset, values, Platform.FLOAT_ARRAY_OFFSET, (long) Float.BYTES * count);
            addAll(values);
        }
    }

    /** Appends the float64 numbers of some memory, as Spark's arrays have them. */
    void addDoubles(Object memory, long offset, int count) {
        if (copied.length < count) {
            copied = new double[count];
        }
        Platform.copyMemory(memory, offset, copied, Platform.DOUBLE_ARRAY_OFFSET, (long) Double.BYTES * count);
        addAll(copied, count);
    }

    /** Appends numbers. */
    void addAll(long[] values) {
        for (long each : values) {
            whole(each);
        }
    }

    private void reserve(int more) {
        if (floats.length - size < more) {
            floats = Arrays.copyOf(floats, Math.max(Math.max(SOME, 2 * size), Math.addExact(size, more)));
        }
    }

    /** Returns how many numbers a cell has. */
    int count(@Nullable Object cell) {
        return switch (cell) {
            case Vector vector -> vector.size();
            case byte[] bytes -> bytes.length;
            case Iterable<?> array -> {
                int count = 0;
                for (Iterator<?> each = array.iterator(); each.hasNext();) {
                    count += count(each.next());
                }
                yield count;
            }
            case null, default -> 1;
        };
    }

    /** Appends the numbers of a cell. */
    void add(@Nullable Object cell) {
        switch (cell) {
            case null -> throw new IllegalArgumentException("Column '" + column + "' has a cell without a value (null)"
                    + ": fill such cells or drop their rows");
            case Boolean bool -> whole(bool ? 1 : 0);
            case Byte number -> whole(number);
            case Short number -> whole(number);
            case Integer number -> whole(number);
            case Long number -> whole(number);
            case BigDecimal number -> real(number.doubleValue());
            case Number number -> real(number.doubleValue());
            case byte[] bytes -> {
                for (byte each : bytes) {
                    whole(Byte.toUnsignedInt(each));
                }
            }
            case Vector vector -> addAll(vector.toArray());
            case Iterable<?> array -> {
                for (Iterator<?> each = array.iterator(); each.hasNext();) {
                    add(each.next());
                }
            }
            default -> throw new IllegalArgumentException("Column '" + column + "' has a " + cell.getClass().getName()
                    + ", but takes numbers, arrays of numbers, ML vectors and bytes");
        }
    }

    /** Appends a number. */
    void whole(long value) {
        if (isWhole()) {
            put(value);
        } else if (type == DType.FLOAT32) {
            put((float) value);
        } else {
            put((double) value);
        }
    }

    /** Appends a number. */
    void real(double value) {
        if (type == DType.FLOAT32) {
            put((float) value);
        } else if (!isWhole()) {
            put(value);
        } else if (value == Math.rint(value) && Math.abs(value) < 0x1p63) {
            put((long) value);
        } else {
            throw new IllegalArgumentException("Column '" + column + "' is for whole numbers of type " + type
                    + ", but has " + value);
        }
    }

    private void put(float value) {
        reserve(1);
        floats[size++] = value;
    }

    private void put(double value) {
        if (size == doubles.length) {
            doubles = Arrays.copyOf(doubles, Math.max(SOME, 2 * size));
        }
        doubles[size++] = value;
    }

    private void put(long value) {
        if (!fits(value)) {
            throw new IllegalArgumentException("Column '" + column + "' is for numbers of type " + type + ", but has "
                    + value);
        }
        if (size == longs.length) {
            longs = Arrays.copyOf(longs, Math.max(SOME, 2 * size));
        }
        longs[size++] = value;
    }

    private boolean fits(long value) {
        int bits = type == DType.BOOL ? 1 : Byte.SIZE * type.bytes();
        if (bits == Long.SIZE) {
            return type != DType.UINT64 || value >= 0;
        }
        boolean isUnsigned = type == DType.BOOL || type.isUnsigned();
        return isUnsigned ? value >>> bits == 0 : value << -bits >> -bits == value;
    }

    /** Returns a new tensor of all numbers. */
    Tensor tensor(long... dims) {
        if (type == DType.FLOAT32) {
            Tensor tensor = Tensor.allocate(type, dims);
            MemorySegment.copy(floats, 0, tensor.elements(), ValueLayout.JAVA_FLOAT_UNALIGNED, 0, size);
            return tensor;
        }
        return isWhole()
                ? Tensor.of(type, Arrays.copyOf(longs, size), dims)
                : Tensor.of(type, Arrays.copyOf(doubles, size), dims);
    }

    /** Returns whether {@link #bytes} writes elements of a type. */
    static boolean isEncoded(DType type) {
        return !type.isComplex() && !type.isHalf();
    }

    /** Returns all numbers as elements of the type, as a tensor's memory has them. */
    byte[] bytes() {
        ByteBuffer bytes = ByteBuffer.allocate(size * type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < size; i++) {
            switch (type) {
                case FLOAT32 -> bytes.putFloat(floats[i]);
                case FLOAT64 -> bytes.putDouble(doubles[i]);
                case INT64, UINT64 -> bytes.putLong(longs[i]);
                case INT32, UINT32 -> bytes.putInt((int) longs[i]);
                case INT16, UINT16 -> bytes.putShort((short) longs[i]);
                case INT8, UINT8, BOOL -> bytes.put((byte) longs[i]);
                default -> throw new IllegalArgumentException("Column '" + column + "' is for " + type
                        + ", which is not encoded: feed float32, and cast it in the network");
            }
        }
        return bytes.array();
    }
}

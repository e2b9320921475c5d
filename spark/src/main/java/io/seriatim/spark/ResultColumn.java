package io.seriatim.spark;

import io.seriatim.executor.Predictor.Port;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.Platform;

/**
 * A column whose cells are the rows of a result.
 *
 * @param column
 *            its name
 * @param fetch
 *            the name of the result
 * @param type
 *            of its elements
 * @param kind
 *            of the cells
 */
record ResultColumn(String column, String fetch, DType type, Kind kind) implements Serializable {
    private static final long serialVersionUID = 1;

    /** What a cell is. */
    enum Kind {
        NUMBER, ARRAY, VECTOR,
        /** The softmax of all elements. */
        SOFTMAX,
        /** The index of the greatest element. */
        GREATEST,
        /** The only element, as a double. */
        REAL
    }

    /** A result of a given kind. */
    static ResultColumn of(String column, Port port, Kind kind) {
        return new ResultColumn(column, port.name(), port.type() == null ? DType.FLOAT32 : port.type(), kind);
    }

    /** A result with one element for each row is a number. */
    static ResultColumn of(String column, Port port, boolean isVector) {
        DType type = port.type() == null ? DType.FLOAT32 : port.type();
        if (type.isComplex()) {
            throw new IllegalArgumentException("Output '" + port.name() + "' of the model is of type " + type
                    + ", but a data frame has no complex numbers");
        }
        boolean isNumber = !port.sizes().isEmpty() && port.sizes().stream().skip(1).allMatch(size -> size == 1);
        return new ResultColumn(column, port.name(), type,
                isNumber ? Kind.NUMBER : isVector ? Kind.VECTOR : Kind.ARRAY);
    }

    DataType dataType() {
        return switch (kind) {
            case NUMBER -> elementType();
            case ARRAY -> DataTypes.createArrayType(elementType(), false);
            case VECTOR, SOFTMAX -> SQLDataTypes.VectorType();
            case GREATEST, REAL -> DataTypes.DoubleType;
        };
    }

    private boolean isComputedInDoubles() {
        return kind != Kind.NUMBER && kind != Kind.ARRAY;
    }

    private DataType elementType() {
        return switch (type) {
            case FLOAT32, FLOAT16, BFLOAT16 -> DataTypes.FloatType;
            case FLOAT64 -> DataTypes.DoubleType;
            case BOOL -> DataTypes.BooleanType;
            default -> type.bytes() < Integer.BYTES || type == DType.INT32
                    ? DataTypes.IntegerType
                    : DataTypes.LongType;
        };
    }

    /** Returns the cells of the first rows of a result, in the format of Spark's own rows. */
    Object[] cells(Tensor result, int rows, int computed) {
        Shape shape = result.shape();
        if (shape.rank() == 0 || shape.dim(0) != computed) {
            throw new IllegalArgumentException("Output '" + fetch + "' is " + result.spec() + " for " + computed
                    + " rows: it has no row for each of them, so that it cannot be a column. Choose other outputs");
        }
        int each = Math.toIntExact(shape.size() / computed);
        if ((kind == Kind.NUMBER || kind == Kind.REAL) && each != 1) {
            throw new IllegalArgumentException("Output '" + fetch + "' is " + result.spec()
                    + ", but its file declares one number for each row");
        }
        Object[] cells = new Object[rows];
        if (elementType().equals(DataTypes.FloatType) && !isComputedInDoubles()) {
            float[] all = result.toFloatArray();
            if (kind == Kind.ARRAY) {
                return arrays(all, Platform.FLOAT_ARRAY_OFFSET, Float.BYTES, rows, each);
            }
            for (int i = 0; i < rows; i++) {
                cells[i] = all[i];
            }
        } else if (elementType().equals(DataTypes.DoubleType) || isComputedInDoubles()) {
            double[] all = result.toDoubleArray();
            switch (kind) {
                case ARRAY -> {
                    return arrays(all, Platform.DOUBLE_ARRAY_OFFSET, Double.BYTES, rows, each);
                }
                case VECTOR -> {
                    return vectors(all, rows, each);
                }
                case SOFTMAX -> {
                    for (int i = 0; i < rows; i++) {
                        softmax(all, i * each, (i + 1) * each);
                    }
                    return vectors(all, rows, each);
                }
                default -> {
                    for (int i = 0; i < rows; i++) {
                        cells[i] = kind == Kind.GREATEST
                                ? (double) (greatest(all, i * each, (i + 1) * each) - i * each)
                                : all[i];
                    }
                }
            }
        } else {
            long[] all = result.toLongArray();
            for (int i = 0; i < rows; i++) {
                cells[i] = kind == Kind.NUMBER
                        ? whole(all[i])
                        : wholes(Arrays.copyOfRange(all, i * each, (i + 1) * each));
            }
        }
        return cells;
    }

    /**
     * Makes arrays as Spark's rows have them, in one piece of memory.
     *
     * @param all
     *            an array of numbers
     * @param offset
     *            of its first element
     * @param bytes
     *            of an element
     */
    private static Object[] arrays(Object all, long offset, int bytes, int rows, int each) {
        int header = Math.toIntExact(UnsafeArrayData.calculateHeaderPortionInBytes((long) each));
        int values = Math.multiplyExact(each, bytes);
        int size = Math.ceilDiv(header + values, Long.BYTES) * Long.BYTES;
        long[] memory = new long[Math.multiplyExact(rows, size / Long.BYTES)];
        Object[] arrays = new Object[rows];
        for (int i = 0; i < rows; i++) {
            long start = Platform.LONG_ARRAY_OFFSET + (long) i * size;
            Platform.putLong(memory, start, each);
            Platform.copyMemory(all, offset + (long) i * values, memory, start + header, values);
            UnsafeArrayData array = new UnsafeArrayData();
            array.pointTo(memory, start, size);
            arrays[i] = array;
        }
        return arrays;
    }

    /** Makes dense vectors as Spark's rows have them, in one piece of memory: structs with an array. */
    private static Object[] vectors(double[] all, int rows, int each) {
        int header = Math.toIntExact(UnsafeArrayData.calculateHeaderPortionInBytes((long) each));
        int values = Math.multiplyExact(each, Double.BYTES);
        int fields = UnsafeRow.calculateBitSetWidthInBytes(CellReader.VECTOR_FIELDS)
                + CellReader.VECTOR_FIELDS * Long.BYTES;
        int size = fields + header + values;
        long[] memory = new long[Math.multiplyExact(rows, size / Long.BYTES)];
        Object[] vectors = new Object[rows];
        for (int i = 0; i < rows; i++) {
            long start = Platform.LONG_ARRAY_OFFSET + (long) i * size;
            UnsafeRow vector = new UnsafeRow(CellReader.VECTOR_FIELDS);
            vector.pointTo(memory, start, size);
            vector.setByte(0, CellReader.DENSE);
            vector.setNullAt(1);
            vector.setNullAt(2);
            vector.setLong(CellReader.VECTOR_FIELDS - 1, (long) fields << Integer.SIZE | header + values);
            Platform.putLong(memory, start + fields, each);
            Platform.copyMemory(all, Platform.DOUBLE_ARRAY_OFFSET + (long) i * values, memory, start + fields + header,
                    values);
            vectors[i] = vector;
        }
        return vectors;
    }

    private static int greatest(double[] values, int from, int to) {
        int greatest = from;
        for (int i = from + 1; i < to; i++) {
            greatest = values[i] > values[greatest] ? i : greatest;
        }
        return greatest;
    }

    private static void softmax(double[] scores, int from, int to) {
        double most = scores[greatest(scores, from, to)];
        double sum = 0;
        for (int i = from; i < to; i++) {
            scores[i] = Math.exp(scores[i] - most);
            sum += scores[i];
        }
        for (int i = from; i < to; i++) {
            scores[i] /= sum;
        }
    }

    private UnsafeArrayData wholes(long[] values) {
        if (type == DType.BOOL) {
            boolean[] bools = new boolean[values.length];
            for (int i = 0; i < bools.length; i++) {
                bools[i] = values[i] != 0;
            }
            return UnsafeArrayData.fromPrimitiveArray(bools);
        }
        return elementType().equals(DataTypes.IntegerType)
                ? UnsafeArrayData.fromPrimitiveArray(Arrays.stream(values).mapToInt(value -> (int) value).toArray())
                : UnsafeArrayData.fromPrimitiveArray(values);
    }

    private Object whole(long value) {
        if (type == DType.BOOL) {
            return value != 0;
        }
        return elementType().equals(DataTypes.IntegerType) ? (Object) (int) value : (Object) value;
    }
}

package io.seriatim.spark;

import java.io.Serializable;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.UserDefinedType;
import org.apache.spark.unsafe.bitset.BitSetMethods;

/**
 * Reads the cells of a column from rows in Spark's own format. Arrays of numbers are copied at once, without an object
 * for each number.
 *
 * @param index
 *            the index of the column
 * @param type
 *            of its cells
 */
record CellReader(int index, DataType type) implements Serializable {
    private static final long serialVersionUID = 1;
    /** A vector's struct has the kind, the size, the indexes and the values. */
    static final int VECTOR_FIELDS = 4;
    static final byte DENSE = 1;

    /** Appends the numbers of a row's cell. */
    void read(SpecializedGetters row, Numbers numbers) {
        read(row, index, type, numbers);
    }

    private static void read(SpecializedGetters row, int at, DataType type, Numbers numbers) {
        if (row.isNullAt(at)) {
            numbers.add(null);
            return;
        }
        switch (type) {
            case FloatType _ -> numbers.real(row.getFloat(at));
            case DoubleType _ -> numbers.real(row.getDouble(at));
            case LongType _ -> numbers.whole(row.getLong(at));
            case IntegerType _ -> numbers.whole(row.getInt(at));
            case ShortType _ -> numbers.whole(row.getShort(at));
            case ByteType _ -> numbers.whole(row.getByte(at));
            case BooleanType _ -> numbers.whole(row.getBoolean(at) ? 1 : 0);
            case ArrayType array -> readArray(row.getArray(at), array.elementType(), numbers);
            case UserDefinedType<?> vector when vector.userClass() == Vector.class ->
                readVector(row, at, vector, numbers);
            default -> numbers.add(CatalystTypeConverters.convertToScala(row.get(at, type), type));
        }
    }

    /** A dense vector is a struct with an array of its elements. */
    private static void readVector(SpecializedGetters row, int at, UserDefinedType<?> type, Numbers numbers) {
        InternalRow vector = row.getStruct(at, VECTOR_FIELDS);
        if (vector.getByte(0) == DENSE) {
            readArray(vector.getArray(VECTOR_FIELDS - 1), DataTypes.DoubleType, numbers);
        } else {
            numbers.add(type.deserialize(vector));
        }
    }

    private static void readArray(ArrayData array, DataType type, Numbers numbers) {
        int size = array.numElements();
        if (array instanceof UnsafeArrayData packed && (type instanceof FloatType || type instanceof DoubleType)
                && !hasNull(packed, size)) {
            Object memory = packed.getBaseObject();
            long offset = packed.getBaseOffset() + UnsafeArrayData.calculateHeaderPortionInBytes(size);
            if (type instanceof FloatType) {
                numbers.addFloats(memory, offset, size);
            } else {
                numbers.addDoubles(memory, offset, size);
            }
            return;
        }
        switch (type) {
            case FloatType _ when !hasNull(array, size) -> numbers.addAll(array.toFloatArray());
            case DoubleType _ when !hasNull(array, size) -> numbers.addAll(array.toDoubleArray());
            case LongType _ when !hasNull(array, size) -> numbers.addAll(array.toLongArray());
            default -> {
                for (int i = 0; i < size; i++) {
                    read(array, i, type, numbers);
                }
            }
        }
    }

    /** The bits of the elements without a value are behind their number. */
    private static boolean hasNull(UnsafeArrayData array, int size) {
        return BitSetMethods.anySet(array.getBaseObject(), array.getBaseOffset() + Long.BYTES,
                (size + Long.SIZE - 1) / Long.SIZE);
    }

    private static boolean hasNull(ArrayData array, int size) {
        for (int i = 0; i < size; i++) {
            if (array.isNullAt(i)) {
                return true;
            }
        }
        return false;
    }
}

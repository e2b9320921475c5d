package io.seriatim.graph.program;

import io.seriatim.tensor.DType;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of element types in programs: Paddle's, and some of our own for types that Paddle's programs lack. The
 * latter exist in memory only: what is written as a file of Paddle must not have them.
 */
public final class DataTypes {
    private static final int UINT16 = 1016;
    private static final int UINT32 = 1032;
    private static final int UINT64 = 1064;

    private DataTypes() {
    }

    /**
     * The number of a type.
     *
     * @param dtype
     *            the element type
     * @return its number in programs and attributes; Paddle's, unless {@link #isOwn}
     */
    public static int number(DType dtype) {
        return switch (dtype) {
            case BOOL -> 0;
            case INT16 -> 1;
            case INT32 -> 2;
            case INT64 -> 3;
            case FLOAT16 -> 4;
            case FLOAT32 -> 5;
            case FLOAT64 -> 6;
            case UINT8 -> 20;
            case UINT16 -> UINT16;
            case UINT32 -> UINT32;
            case UINT64 -> UINT64;
            case INT8 -> 21;
            case BFLOAT16 -> 22;
            case COMPLEX64 -> 23;
            case COMPLEX128 -> 24;
        };
    }

    /**
     * Whether a number is one of our own, which no file of Paddle may have.
     *
     * @param number
     *            of an element type
     * @return true for uint16, uint32 and uint64
     */
    public static boolean isOwn(int number) {
        return number == UINT16 || number == UINT32 || number == UINT64;
    }

    /**
     * The element type of a number.
     *
     * @param number
     *            in files and attributes
     * @return its type
     * @throws IllegalArgumentException
     *             if there are no tensors of it here
     */
    public static DType dtype(int number) {
        DType dtype = find(number);
        if (dtype == null) {
            throw new IllegalArgumentException("There are no tensors of Paddle's type " + number + " (" + name(number)
                    + ") here; there are bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, "
                    + "float64, complex64 and complex128");
        }
        return dtype;
    }

    /**
     * The type of elements that a number of Paddle stands for.
     *
     * @param number
     *            as in {@code VarType.Type}
     * @return null if no tensor has it
     */
    public static @Nullable DType find(int number) {
        return switch (number) {
            case 0 -> DType.BOOL;
            case 1 -> DType.INT16;
            case 2 -> DType.INT32;
            case 3 -> DType.INT64;
            case 4 -> DType.FLOAT16;
            case 5 -> DType.FLOAT32;
            case 6 -> DType.FLOAT64;
            case 20 -> DType.UINT8;
            case UINT16 -> DType.UINT16;
            case UINT32 -> DType.UINT32;
            case UINT64 -> DType.UINT64;
            case 21 -> DType.INT8;
            case 22 -> DType.BFLOAT16;
            case 23 -> DType.COMPLEX64;
            case 24 -> DType.COMPLEX128;
            default -> null;
        };
    }

    static String name(int number) {
        DType dtype = find(number);
        return dtype != null ? dtype.toString() : switch (number) {
            case 19 -> "size_t";
            case 29 -> "pstring";
            default -> "type " + number;
        };
    }
}

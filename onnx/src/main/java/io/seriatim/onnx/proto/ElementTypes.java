package io.seriatim.onnx.proto;

import io.seriatim.tensor.DType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The numbers of ONNX for types of elements. */
public final class ElementTypes {
    /** The number of texts. */
    public static final int STRING = 8;

    private static final List<String> NAMES = List.of("undefined", "float", "uint8", "int8", "uint16", "int16", "int32",
            "int64", "string", "bool", "float16", "double", "uint32", "uint64", "complex64", "complex128", "bfloat16",
            "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4", "float4e2m1",
            "float8e8m0",
            "uint2", "int2");

    private ElementTypes() {
    }

    /** The type with a number; null if it is not supported. */
    public static @Nullable DType find(long number) {
        return switch (Math.clamp(number, 0, Integer.MAX_VALUE)) {
            case 1 -> DType.FLOAT32;
            case 2 -> DType.UINT8;
            case 3 -> DType.INT8;
            case 4 -> DType.UINT16;
            case 5 -> DType.INT16;
            case 6 -> DType.INT32;
            case 7 -> DType.INT64;
            case 9 -> DType.BOOL;
            case 10 -> DType.FLOAT16;
            case 11 -> DType.FLOAT64;
            case 12 -> DType.UINT32;
            case 13 -> DType.UINT64;
            case 14 -> DType.COMPLEX64;
            case 15 -> DType.COMPLEX128;
            case 16 -> DType.BFLOAT16;
            default -> null;
        };
    }

    /** The type with a number. */
    public static DType get(String what, long number) {
        DType found = find(number);
        if (found == null) {
            throw new IllegalArgumentException(what + " has the type " + name(number)
                    + ", which is not supported; types are float, double, float16, bfloat16, whole numbers and bool");
        }
        return found;
    }

    /** The number of a type. */
    public static int number(DType dtype) {
        return switch (dtype) {
            case FLOAT32 -> 1;
            case UINT8 -> 2;
            case INT8 -> 3;
            case UINT16 -> 4;
            case INT16 -> 5;
            case INT32 -> 6;
            case INT64 -> 7;
            case BOOL -> 9;
            case FLOAT16 -> 10;
            case FLOAT64 -> 11;
            case UINT32 -> 12;
            case UINT64 -> 13;
            case COMPLEX64 -> 14;
            case COMPLEX128 -> 15;
            case BFLOAT16 -> 16;
        };
    }

    /** The name of a type, for messages. */
    public static String name(long number) {
        return number >= 0 && number < NAMES.size() ? NAMES.get((int) number) : "number " + number;
    }
}

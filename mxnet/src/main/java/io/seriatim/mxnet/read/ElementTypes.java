package io.seriatim.mxnet.read;

import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** MXNet's numbers and names of element types. */
public final class ElementTypes {
    private static final String[] NAMES = {"float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool",
            "int16", "uint16", "uint32", "uint64", "bfloat16"};

    private ElementTypes() {
    }

    /**
     * The type of a number.
     *
     * @param number
     *            as files of arrays have it
     * @return null if there are no tensors of it
     */
    public static @Nullable DType find(int number) {
        return number < 0 || number >= NAMES.length ? null : find(NAMES[number]);
    }

    /**
     * The type of a name.
     *
     * @param name
     *            as attributes have it, for instance {@code float32}
     * @return null if there are no tensors of it
     */
    public static @Nullable DType find(String name) {
        for (DType dtype : DType.values()) {
            if (!dtype.isComplex() && dtype.toString().equals(name.toLowerCase(Locale.ROOT))) {
                return dtype;
            }
        }
        return null;
    }

    static String name(int number) {
        return number < 0 || number >= NAMES.length ? String.valueOf(number) : NAMES[number];
    }

    static String names() {
        return Arrays.stream(NAMES).filter(name -> find(name) != null).collect(Collectors.joining(", "));
    }
}

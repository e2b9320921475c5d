package io.seriatim.graph.translate;

import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;

/**
 * Constants whose elements stand in the program: indexes, sizes and the like. A plan does not know the values of the
 * scope, where parameters are, when it is compiled; it folds the arithmetic on shapes that uses literals.
 */
final class Literals {
    /** More elements than any shape has. */
    private static final long MOST = 64;
    /** The same for numbers that grow evenly, which exporters write for the places of a slice. */
    private static final long MOST_EVEN = 1L << 14;

    private Literals() {
    }

    /** Whether a value stands in the program; sizes are computed by way of fractions, too. */
    static boolean isLiteral(Tensor value, boolean isTrained) {
        DType dtype = value.dtype();
        boolean few = value.shape().size() > 0 && value.shape().size() <= MOST;
        boolean whole = dtype == DType.INT32 || dtype == DType.INT64;
        return few
                ? whole || dtype == DType.BOOL || (dtype == DType.FLOAT32 && !isTrained && isFinite(value))
                : whole && growsEvenly(value);
    }

    private static boolean growsEvenly(Tensor value) {
        if (value.shape().size() == 0 || value.shape().size() > MOST_EVEN) {
            return false;
        }
        long[] numbers = value.toLongArray();
        for (int i = 2; i < numbers.length; i++) {
            if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0]) {
                return false;
            }
        }
        return true;
    }

    private static boolean isFinite(Tensor value) {
        for (float each : value.toFloatArray()) {
            if (!Float.isFinite(each)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a value may be a literal if it decides about sizes only, such as the scales of a resized image. */
    static boolean isScales(Tensor value) {
        return value.dtype() == DType.FLOAT32 && value.shape().rank() == 1 && value.shape().size() > 0
                && value.shape().size() <= MOST;
    }

    /** An operation that sets a variable to the value. */
    static OpDesc operation(String name, Tensor value) {
        long[] dims = value.shape().dims();
        int dtype = DataTypes.number(value.dtype());
        if (value.dtype() == DType.FLOAT32 && value.shape().size() == 1) {
            float number = value.toFloatArray()[0];
            return OpDesc.of("fill_constant").out("Out", name).attr("shape", dims).attr("dtype", dtype)
                    .attr("value", number).attr("str_value", Float.toString(number)).build();
        }
        if (value.dtype() == DType.FLOAT32) {
            return OpDesc.of("assign_value").out("Out", name).attr("shape", ints(dims)).attr("dtype", dtype)
                    .attr("fp32_values", value.toFloatArray()).build();
        }
        long[] elements = value.toLongArray();
        if (elements.length == 1) {
            // PaddlePaddle's assign_value takes no shape without dimensions.
            return OpDesc.of("fill_constant").out("Out", name).attr("shape", dims).attr("dtype", dtype)
                    .attr("value", (float) elements[0]).attr("str_value", Long.toString(elements[0])).build();
        }
        OpDesc.Builder op = OpDesc.of("assign_value").out("Out", name).attr("shape", ints(dims)).attr("dtype", dtype);
        return switch (value.dtype()) {
            case INT64 -> op.attr("int64_values", elements).build();
            case INT32 -> op.attr("int32_values", ints(elements)).build();
            default -> op.attr("bool_values", ints(elements)).build();
        };
    }

    private static int[] ints(long[] values) {
        return Arrays.stream(values).mapToInt(Math::toIntExact).toArray();
    }
}

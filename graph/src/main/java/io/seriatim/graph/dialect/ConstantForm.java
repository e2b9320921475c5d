package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Constants that PaddlePaddle would round: its fill_constant has a float64 between the text and the elements. */
final class ConstantForm {
    private static final int FEW = 1024;

    private ConstantForm() {
    }

    static void register(Map<String, PaddleForms.Rule> rules) {
        rules.put("fill_constant", (op, steps, _) -> fill(op, steps));
    }

    /** A whole number that no float64 is equal to; null if there is one. */
    private static @Nullable Long unlikeFloat64(String text) {
        if (!text.strip().matches("[+-]?[0-9]{1,19}")) {
            return null;
        }
        try {
            long value = Long.parseLong(text.strip());
            double rounded = (double) value;
            return rounded < 0x1p63 && (long) rounded == value ? null : (Long) value;
        } catch (NumberFormatException _) {
            return null;
        }
    }

    /** The few whole numbers that an operation makes of its attributes; null if it does something else. */
    static @Nullable Tensor value(OpDesc op) {
        boolean fills = op.type().equals("fill_constant");
        if ((!fills && !op.type().equals("assign_value")) || !op.inputNames().isEmpty()
                || op.output("Out").size() != 1) {
            return null;
        }
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        long[] shape = attrs.getLongs("shape");
        long size = size(shape);
        boolean whole = attrs.getInt("dtype") == DataTypes.number(DType.INT64)
                || attrs.getInt("dtype") == DataTypes.number(DType.INT32);
        if (!whole || size > FEW) {
            return null;
        }
        long[] values = new long[(int) size];
        if (fills) {
            String text = attrs.getText("str_value").strip();
            if (!text.isEmpty() && !text.matches("-?[0-9]{1,15}")) {
                return null;
            }
            Arrays.fill(values, text.isEmpty() ? (long) attrs.getFloat("value") : Long.parseLong(text));
        } else {
            values = attrs.getLongs(attrs.getInt("dtype") == DataTypes.number(DType.INT64)
                    ? "int64_values"
                    : "int32_values");
            if (values.length != size) {
                return null;
            }
        }
        return Tensor.of(values, shape);
    }

    /** The number of elements; more than {@link #FEW} if there are many, or an unknown number. */
    private static long size(long... shape) {
        return Arrays.stream(shape).reduce(1, (a, b) -> a < 0 || b < 0 || a > FEW || b > FEW ? FEW + 1 : a * b);
    }

    private static boolean fill(OpDesc op, Steps steps) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        Long value = unlikeFloat64(attrs.getText("str_value"));
        if (value == null || attrs.getInt("dtype") != DataTypes.number(DType.INT64)
                || !op.input("ValueTensor").isEmpty()) {
            return false;
        }
        String out = op.output("Out").getFirst();
        long[] shape = attrs.getLongs("shape");
        boolean computed = !op.input("ShapeTensor").isEmpty() || !op.input("ShapeTensorList").isEmpty();
        long size = size(shape);
        if (!computed && size > 0 && size <= FEW) {
            long[] values = new long[(int) size];
            Arrays.fill(values, value);
            assign(steps, values, Arrays.stream(shape).mapToInt(Math::toIntExact).toArray()).into("Out", out);
            return true;
        }
        String one = assign(steps, new long[]{value}, 1).out("Out");
        Steps.Step expand = steps.op("expand_v2").in("X", one).attr("shape",
                Arrays.stream(shape).mapToInt(Math::toIntExact).toArray());
        if (!op.input("ShapeTensor").isEmpty()) {
            expand.in("Shape", steps.cast(op.input("ShapeTensor").getFirst(), DType.INT32));
        } else if (computed) {
            expand.in("expand_shapes_tensor", op.input("ShapeTensorList"));
        }
        expand.into("Out", out);
        return true;
    }

    private static Steps.Step assign(Steps steps, long[] values, int... shape) {
        return steps.op("assign_value").attr("shape", shape).attr("dtype", DataTypes.number(DType.INT64))
                .attr("int64_values", values);
    }
}

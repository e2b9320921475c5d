package io.seriatim.graph.dialect;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.Map;

/** Halves: PaddlePaddle 2 and the operation round have them away from 0, PaddlePaddle 3 and ONNX to even. */
final class RoundingForm {
    private RoundingForm() {
    }

    /** For PaddlePaddle 2. */
    static void register(Map<String, PaddleForms.Rule> rules) {
        rules.put("onnx_round", (op, steps, _) -> toEven(op, steps));
        rules.put("round", (op, steps, _) -> isToEven(op) && toEven(op, steps));
    }

    /** For PaddlePaddle 3, whose own operation is that of ONNX. */
    static void registerNewer(Map<String, PaddleForms.Rule> rules) {
        rules.put("round", (op, steps, _) -> !isToEven(op) && away(op, steps));
        rules.put("onnx_round", (_, _, _) -> false);
    }

    private static boolean isToEven(OpDesc op) {
        return op.attribute("half_to_even") instanceof Attribute.Bool(boolean value) && value;
    }

    private static String unary(Steps steps, String type, String x) {
        return steps.op(type).in("X", x).out("Out");
    }

    private static String scaled(Steps steps, String x, float scale) {
        return steps.op("scale").in("X", x).attr("scale", scale).attr("bias", 0f).attr("bias_after_scale", true)
                .out("Out");
    }

    private static String constant(Steps steps, DType dtype, String value) {
        return steps.op("fill_constant").attr("shape", new long[]{1}).attr("value", Float.parseFloat(value))
                .attr("str_value", value).attr("dtype", DataTypes.number(dtype)).out("Out");
    }

    /** The distance from the whole number towards 0. */
    private static String distance(Steps steps, String x, String whole) {
        return unary(steps, "abs", steps.binary("elementwise_sub", x, whole));
    }

    private static boolean toEven(OpDesc op, Steps steps) {
        String x = op.input("X").getFirst();
        DType dtype = steps.tensor(x).dtype();
        if (!dtype.isFloating()) {
            steps.op("assign").in("X", x).into("Out", op.output("Out").getFirst());
            return true;
        }
        String half = steps.binary("equal", distance(steps, x, unary(steps, "trunc", x)),
                constant(steps, dtype, "0.5"));
        String even = scaled(steps, unary(steps, "round", scaled(steps, x, 0.5f)), 2f);
        steps.op("where").in("Condition", half).in("X", even).in("Y", unary(steps, "round", x))
                .into("Out", op.output("Out").getFirst());
        return true;
    }

    private static boolean away(OpDesc op, Steps steps) {
        String x = op.input("X").getFirst();
        DType dtype = steps.tensor(x).dtype();
        if (!dtype.isFloating()) {
            steps.op("assign").in("X", x).into("Out", op.output("Out").getFirst());
            return true;
        }
        steps.op("assign").in("X", awayFromZero(steps, x)).into("Out", op.output("Out").getFirst());
        return true;
    }

    static String awayFromZero(Steps steps, String x) {
        DType dtype = steps.tensor(x).dtype();
        String whole = unary(steps, "trunc", x);
        String further = steps.binary("greater_equal", distance(steps, x, whole), constant(steps, dtype, "0.5"));
        String step = steps.binary("elementwise_mul", unary(steps, "sign", x), steps.cast(further, dtype));
        return steps.binary("elementwise_add", whole, step);
    }
}

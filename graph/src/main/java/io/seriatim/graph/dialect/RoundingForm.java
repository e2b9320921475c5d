package io.seriatim.graph.dialect;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.Map;
import java.util.function.BiConsumer;

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

    private static String constant(Steps steps, DType dtype, String value) {
        return steps.op("fill_constant").attr("shape", new long[]{1}).attr("value", Float.parseFloat(value))
                .attr("str_value", value).attr("dtype", DataTypes.number(dtype)).out("Out");
    }

    /** The distance from the whole number towards 0. */
    private static String distance(Steps steps, String x, String whole) {
        return steps.unary("abs", steps.binary("elementwise_sub", x, whole));
    }

    private static boolean toEven(OpDesc op, Steps steps) {
        return rounded(op, steps, (x, out) -> {
            String half = steps.binary("equal", distance(steps, x, steps.unary("trunc", x)),
                    constant(steps, steps.tensor(x).dtype(), "0.5"));
            String even = steps.linear(steps.unary("round", steps.linear(x, 0.5f, 0).out("Out")), 2f, 0).out("Out");
            steps.op("where").in("Condition", half).in("X", even).in("Y", steps.unary("round", x)).into("Out", out);
        });
    }

    private static boolean away(OpDesc op, Steps steps) {
        return rounded(op, steps,
                (x, out) -> steps.op("assign").in("X", awayFromZero(steps, x)).into("Out", out));
    }

    /** Whole numbers are rounded already. */
    private static boolean rounded(OpDesc op, Steps steps, BiConsumer<String, String> real) {
        String x = op.input("X").getFirst();
        String out = op.output("Out").getFirst();
        if (steps.tensor(x).dtype().isFloating()) {
            real.accept(x, out);
        } else {
            steps.op("assign").in("X", x).into("Out", out);
        }
        return true;
    }

    static String awayFromZero(Steps steps, String x) {
        DType dtype = steps.tensor(x).dtype();
        String whole = steps.unary("trunc", x);
        String further = steps.binary("greater_equal", distance(steps, x, whole), constant(steps, dtype, "0.5"));
        String step = steps.binary("elementwise_mul", steps.unary("sign", x), steps.cast(further, dtype));
        return steps.binary("elementwise_add", whole, step);
    }
}

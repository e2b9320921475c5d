package io.seriatim.graph.quantization;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The operations that have a form with int8 levels as operands. */
final class ProductForms {
    /** The axis of weights whose scales cannot follow the sums. */
    static final int NO_AXIS = -2;

    /** The operand and result slots of an operation. */
    record Slots(String activations, String weights, String result) {
    }

    private static final Map<String, Slots> FORMS = Map.of("conv2d", new Slots("Input", "Filter", "Output"),
            "depthwise_conv2d", new Slots("Input", "Filter", "Output"), "mul", new Slots("X", "Y", "Out"),
            "matmul", new Slots("X", "Y", "Out"), "matmul_v2", new Slots("X", "Y", "Out"));

    private ProductForms() {
    }

    /** The slots of an operation with one variable in each of them; null for all others. */
    static @Nullable Slots slots(OpDesc op) {
        Slots slots = FORMS.get(op.type());
        return slots == null || op.input(slots.activations()).size() != 1 || op.input(slots.weights()).size() != 1
                || op.output(slots.result()).size() != 1 || has(op, "use_quantizer", true) ? null : slots;
    }

    /** The axis of the weights along which the output channels lie; {@link #NO_AXIS} if their scales cannot follow. */
    static int channels(OpDesc op) {
        return switch (op.type()) {
            case "conv2d", "depthwise_conv2d" -> 0;
            case "mul" -> has(op, "y_num_col_dims", 1) ? 1 : NO_AXIS;
            case "matmul" -> has(op, "transpose_Y", true) ? 0 : 1;
            default -> has(op, "trans_y", true) ? 0 : 1;
        };
    }

    private static boolean has(OpDesc op, String name, Object value) {
        return switch (op.attribute(name)) {
            case Attribute.Bool(boolean is) -> value.equals(is);
            case Attribute.Int(int is) -> value.equals(is);
            case Attribute.Int64(long is) -> value instanceof Integer number && is == number;
            case null -> name.equals("y_num_col_dims");
            default -> false;
        };
    }
}

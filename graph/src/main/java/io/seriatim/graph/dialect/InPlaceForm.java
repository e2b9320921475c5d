package io.seriatim.graph.dialect;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Results that PaddlePaddle wants in the memory of operands: the operand's variable stands in both slots. */
final class InPlaceForm {
    private static final String RESERVED = "ReserveSpace";

    private InPlaceForm() {
    }

    /** Rewrites an operation whose schema has such results. */
    static boolean rewrite(OpDesc op, TargetSchema schema, Steps steps, PaddleForms.Reads reads) {
        Map<String, String> slots = schema.inPlace(op.type());
        return !slots.isEmpty() && rewrite(op, slots, steps, reads);
    }

    private static boolean rewrite(OpDesc op, Map<String, String> slots, Steps steps, PaddleForms.Reads reads) {
        boolean changes = (!isTrue(op, "is_test") || isTrue(op, "trainable_statistics"))
                && !isTrue(op, "use_global_stats");
        Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        Map<String, String> copies = new LinkedHashMap<>();
        slots.forEach((output, input) -> {
            if (op.input(input).size() != 1 || op.output(output).equals(op.input(input))) {
                return;
            }
            String operand = op.input(input).getFirst();
            String result = op.output(output).isEmpty() ? operand : op.output(output).getFirst();
            if (changes) {
                // The operand keeps its value: the operation changes a copy.
                String copy = op.output(output).isEmpty() ? steps.fresh() : result;
                steps.op("assign").in("X", operand).into("Out", copy);
                inputs.put(input, List.of(copy));
                outputs.put(output, List.of(copy));
            } else {
                outputs.put(output, List.of(operand));
                if (!result.equals(operand) && reads.isRead(result)) {
                    copies.put(result, operand);
                }
            }
        });
        if (changes && op.output(RESERVED).isEmpty()) {
            // Programs for inference have lost it, but the operation computes it in training.
            outputs.put(RESERVED, List.of(steps.declare(VarType.dense(DType.FLOAT32, -1))));
        }
        if (inputs.equals(op.inputs()) && outputs.equals(op.outputs())) {
            return false;
        }
        steps.keep(op.with(inputs, outputs));
        copies.forEach((result, operand) -> steps.op("assign").in("X", operand).into("Out", result));
        return true;
    }

    private static boolean isTrue(OpDesc op, String attribute) {
        return op.attribute(attribute) instanceof Attribute.Bool(boolean value) && value;
    }
}

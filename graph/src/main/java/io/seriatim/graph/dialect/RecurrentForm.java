package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Recurrent layers whose gates are in ONNX's order, which PaddlePaddle does not know. */
final class RecurrentForm {
    private static final String ORDER = "gate_order";

    private RecurrentForm() {
    }

    static void register(Map<String, PaddleForms.Rule> rules) {
        rules.put("rnn", (op, steps, _) -> recurrence(op, steps));
    }

    private static boolean recurrence(OpDesc op, Steps steps) {
        if (op.attribute(ORDER) == null) {
            return false;
        }
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        OpDesc known = op.without(List.of(ORDER));
        int[] places = attrs.getText(ORDER).equals("onnx") ? places(attrs.getText("mode")) : new int[0];
        if (places.length > 0) {
            int size = attrs.getInt("hidden_size");
            List<String> weights = new ArrayList<>();
            for (String each : op.input("WeightList")) {
                List<String> gates = new ArrayList<>();
                for (int place : places) {
                    gates.add(steps.op("slice").in("Input", each).attr("axes", new int[]{0})
                            .attr("starts", new int[]{place * size}).attr("ends", new int[]{(place + 1) * size})
                            .out("Out"));
                }
                weights.add(steps.op("concat").in("X", gates).attr("axis", 0).out("Out"));
            }
            Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
            inputs.put("WeightList", weights);
            known = known.with(inputs, op.outputs());
        }
        steps.keep(known);
        return true;
    }

    /** Where PaddlePaddle's gates are among ONNX's: i f c o among i o f c, r z c among z r h. */
    private static int[] places(String mode) {
        return switch (mode) {
            case "LSTM" -> new int[]{0, 2, 3, 1};
            case "GRU" -> new int[]{1, 0, 2};
            default -> new int[0];
        };
    }
}

package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Recurrent layers as PaddlePaddle knows them: not those whose gates are in ONNX's order, nor those whose only
 * direction begins with the last step, nor those with cells of others ({@link RecurrentLoopForm}).
 */
final class RecurrentForm {
    private static final String ORDER = "gate_order";
    private static final String REVERSE = "is_reverse";
    private static final int[] TIME = {0};

    private RecurrentForm() {
    }

    static void register(Map<String, PaddleForms.Rule> rules) {
        rules.put("rnn", (op, steps, _) -> recurrence(op, steps));
    }

    private static boolean recurrence(OpDesc op, Steps steps) {
        if (RecurrentLoopForm.rewrite(op, steps)) {
            return true;
        }
        if (op.attribute(ORDER) == null && op.attribute(REVERSE) == null) {
            return false;
        }
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        OpDesc known = ordered(op.without(List.of(ORDER, REVERSE)), attrs, steps);
        if (!attrs.getBool(REVERSE)) {
            steps.keep(known);
        } else if (op.input("SequenceLength").isEmpty()) {
            flipped(known, steps);
        } else {
            backwardPart(known, attrs.getInt("hidden_size"), steps);
        }
        return true;
    }

    private static OpDesc ordered(OpDesc op, Attrs attrs, Steps steps) {
        int[] places = attrs.getText(ORDER).equals("onnx") ? places(attrs.getText("mode")) : new int[0];
        if (places.length == 0) {
            return op;
        }
        int size = attrs.getInt("hidden_size");
        List<String> weights = new ArrayList<>();
        for (String each : op.input("WeightList")) {
            List<String> gates = new ArrayList<>();
            for (int place : places) {
                gates.add(part(each, 0, place * size, size, steps).out("Out"));
            }
            weights.add(steps.op("concat").in("X", gates).attr("axis", 0).out("Out"));
        }
        Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
        inputs.put("WeightList", weights);
        return op.with(inputs, op.outputs());
    }

    private static Steps.Step part(String of, int axis, int from, int size, Steps steps) {
        return steps.op("slice").in("Input", of).attr("axes", new int[]{axis}).attr("starts", new int[]{from})
                .attr("ends", new int[]{from + size});
    }

    /** Without lengths, all sequences begin with the last step of all. */
    private static void flipped(OpDesc op, Steps steps) {
        Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
        inputs.put("Input", List.of(steps.op("flip").in("X", op.input("Input").getFirst()).attr("axis", TIME)
                .out("Out")));
        String out = op.output("Out").getFirst();
        String backwards = steps.fresh();
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        outputs.put("Out", List.of(backwards));
        steps.keepAndDeclare(op.with(inputs, outputs));
        steps.op("flip").in("X", backwards).attr("axis", TIME).into("Out", out);
    }

    /** With lengths, only the second of two directions begins with the last step of each sequence. */
    private static void backwardPart(OpDesc op, int size, Steps steps) {
        Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
        List<String> weights = op.input("WeightList");
        inputs.put("WeightList", IntStream.of(0, 1, 0, 1, 2, 3, 2, 3).mapToObj(weights::get).toList());
        inputs.put("PreState", op.input("PreState").stream()
                .map(state -> steps.op("concat").in("X", state, state).attr("axis", 0).out("Out")).toList());
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        String out = steps.fresh();
        List<String> states = op.output("State").stream().map(_ -> steps.fresh()).toList();
        outputs.put("Out", List.of(out));
        outputs.put("State", states);
        steps.keepAndDeclare(op.with("is_bidirec", true).with(inputs, outputs));
        part(out, 2, size, size, steps).into("Out", op.output("Out").getFirst());
        for (int i = 0; i < states.size(); i++) {
            part(states.get(i), 0, 1, 1, steps).into("Out", op.output("State").get(i));
        }
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

package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Recurrent networks: one node for each layer. */
public final class RecurrentWriters {
    private RecurrentWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        all.add("rnn", RecurrentWriters::rnn);
    }

    /**
     * The places of ONNX's gates among Paddle's: input, output, forget, cell of input, forget, cell, output; and update,
     * reset of reset, update.
     */
    private static int[] gates(String mode) {
        return switch (mode) {
            case "LSTM", "PEEPHOLE_LSTM" -> new int[]{0, 3, 1, 2};
            case "GRU", "RESET_GRU" -> new int[]{1, 0, 2};
            default -> new int[]{0};
        };
    }

    private static String reordered(WrittenOp op, String value, int[] gates) {
        if (gates.length == 1) {
            return value;
        }
        long[] equal = new long[gates.length];
        Arrays.fill(equal, op.attrs().getInt("hidden_size"));
        List<String> parts = op.nodes("Split", gates.length, Map.of("axis", 0), List.of(value, op.ints(equal)));
        List<String> ordered = new ArrayList<>();
        for (int gate : gates) {
            ordered.add(parts.get(gate));
        }
        return op.nodes("Concat", 1, Map.of("axis", 0), ordered).getFirst();
    }

    private static String joined(WrittenOp op, List<String> parts) {
        List<String> rows = parts.stream().map(part -> op.node("Unsqueeze", part, op.ints(0))).toList();
        return rows.size() == 1 ? rows.getFirst() : op.nodes("Concat", 1, Map.of("axis", 0), rows).getFirst();
    }

    private static void rnn(WrittenOp op) {
        String mode = op.attrs().getText("mode");
        if (!op.attrs().getBool("is_test") && op.attrs().getFloat("dropout_prob") > 0) {
            throw op.error("is in its form for training; write the program's form for inference");
        }
        int layers = op.attrs().getInt("num_layers");
        int directions = op.attrs().getBool("is_bidirec") ? 2 : 1;
        int all = layers * directions;
        boolean peepholes = mode.equals("PEEPHOLE_LSTM");
        int parameters = (peepholes ? 5 : 4) * all;
        if (op.count("WeightList") != parameters) {
            throw op.error("has %d weights, but a network of %d layers and %d directions with biases has %d",
                    op.count("WeightList"), layers, directions, parameters);
        }
        String lengths = op.has("SequenceLength") ? op.cast(op.in("SequenceLength"), DType.INT32) : "";
        boolean ordered = op.attrs().getText("gate_order").equals("onnx");
        int[] gates = ordered ? new int[]{0} : gates(mode);
        String x = op.in("Input");
        int states = operator(mode).equals("LSTM") ? 2 : 1;
        List<List<String>> last = List.of(new ArrayList<>(), new ArrayList<>());
        for (int layer = 0; layer < layers; layer++) {
            List<String> operands = new ArrayList<>(List.of(x));
            for (int kind = 0; kind < 2; kind++) {
                List<String> weights = new ArrayList<>();
                for (int direction = 0; direction < directions; direction++) {
                    weights.add(reordered(op, op.in("WeightList", 2 * (layer * directions + direction) + kind), gates));
                }
                operands.add(joined(op, weights));
            }
            List<String> biases = new ArrayList<>();
            for (int direction = 0; direction < directions; direction++) {
                int at = 2 * all + 2 * (layer * directions + direction);
                biases.add(op.node("Concat", Map.of("axis", 0), reordered(op, op.in("WeightList", at), gates),
                        reordered(op, op.in("WeightList", at + 1), gates)));
            }
            operands.add(joined(op, biases));
            operands.add(lengths);
            for (int state = 0; state < states; state++) {
                operands.add(layers == 1
                        ? op.in("PreState", state)
                        : op.node("Slice", op.in("PreState", state), op.ints((long) layer * directions),
                                op.ints((long) (layer + 1) * directions), op.ints(0)));
            }
            if (peepholes) {
                List<String> given = new ArrayList<>();
                for (int direction = 0; direction < directions; direction++) {
                    // Input, forget, output become input, output, forget.
                    given.add(reordered(op, op.in("WeightList", 4 * all + layer * directions + direction),
                            ordered ? new int[]{0} : new int[]{0, 2, 1}));
                }
                operands.add(joined(op, given));
            }
            List<String> results = op.nodes(operator(mode), 1 + states, attributes(op, mode, directions), operands);
            // [time, directions, batch, hidden] becomes [time, batch, directions * hidden].
            x = directions == 1
                    ? op.node("Squeeze", results.getFirst(), op.ints(1))
                    : op.node("Reshape", op.node("Transpose", Map.of("perm", new long[]{0, 2, 1, 3}),
                            results.getFirst()), op.ints(0, 0, -1));
            for (int state = 0; state < states; state++) {
                last.get(state).add(results.get(1 + state));
            }
        }
        op.out("Out", x);
        for (int state = 0; state < states; state++) {
            List<String> parts = last.get(state);
            op.out("State", state, parts.size() == 1
                    ? parts.getFirst()
                    : op.nodes("Concat", 1, Map.of("axis", 0), parts).getFirst());
        }
    }

    private static String operator(String mode) {
        return switch (mode) {
            case "LSTM", "PEEPHOLE_LSTM" -> "LSTM";
            case "GRU", "RESET_GRU" -> "GRU";
            default -> "RNN";
        };
    }

    private static Map<String, Object> attributes(WrittenOp op, String mode, int directions) {
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("hidden_size", op.attrs().getInt("hidden_size"));
        boolean reverse = op.attrs().getBool("is_reverse");
        attributes.put("direction", directions == 2 ? "bidirectional" : reverse ? "reverse" : "forward");
        if (mode.equals("GRU")) {
            attributes.put("linear_before_reset", 1);
        } else if (mode.equals("RNN_RELU")) {
            attributes.put("activations", directions == 2 ? List.of("Relu", "Relu") : List.of("Relu"));
        }
        return attributes;
    }
}

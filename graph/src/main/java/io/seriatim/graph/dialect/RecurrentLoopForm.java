package io.seriatim.graph.dialect;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.Recurrence.Cell;
import java.util.ArrayList;
import java.util.List;

/**
 * Recurrent layers whose cells PaddlePaddle's layers have not, as loops over their steps: LSTMs with peepholes, and
 * GRUs that reset the state before the product.
 */
final class RecurrentLoopForm {
    private final OpDesc op;
    private final Steps outer;
    private final Cell cell;
    private final Recurrence.Order order;
    private final int size;
    private final boolean reverse;

    private RecurrentLoopForm(OpDesc op, Attrs attrs, Steps outer, Cell cell) {
        this.op = op;
        this.outer = outer;
        this.cell = cell;
        order = attrs.getText("gate_order").equals("onnx") ? Recurrence.Order.ONNX : Recurrence.Order.PADDLE;
        size = attrs.getInt("hidden_size");
        reverse = attrs.getBool("is_reverse");
    }

    /** Appends the loops; false for other cells, and for layers with dropout between them. */
    static boolean rewrite(OpDesc op, Steps outer) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        Cell cell = switch (attrs.getText("mode")) {
            case "PEEPHOLE_LSTM" -> Cell.PEEPHOLE_LSTM;
            case "RESET_GRU" -> Cell.RESET_GRU;
            default -> Cell.TANH;
        };
        int layers = attrs.getInt("num_layers");
        boolean drops = layers > 1 && !attrs.getBool("is_test") && attrs.getFloat("dropout_prob") > 0;
        if (!cell.hasMore() || drops) {
            return false;
        }
        new RecurrentLoopForm(op, attrs, outer, cell).layers(layers, attrs.getBool("is_bidirec") ? 2 : 1);
        return true;
    }

    private void layers(int layers, int directions) {
        String input = op.input("Input").getFirst();
        List<List<String>> last = new ArrayList<>();
        for (int layer = 0; layer < layers; layer++) {
            List<String> outputs = new ArrayList<>();
            for (int direction = 0; direction < directions; direction++) {
                Loop loop = new Loop(input, layer * directions + direction, layers * directions,
                        reverse || direction == 1);
                outputs.add(loop.append());
                last.add(loop.states);
            }
            input = outputs.size() == 1
                    ? outputs.getFirst()
                    : outer.op("concat").in("X", outputs).attr("axis", 2).out("Out");
        }
        outer.op("assign").in("X", input).into("Out", op.output("Out").getFirst());
        for (int i = 0; i < op.output("State").size(); i++) {
            int state = i;
            List<String> rows = last.stream().map(each -> unsqueezed(outer, each.get(state), 0)).toList();
            outer.op("concat").in("X", rows).attr("axis", 0).into("Out", op.output("State").get(i));
        }
    }

    private static String unsqueezed(Steps steps, String x, int axis) {
        return steps.op("unsqueeze2").in("X", x).attr("axes", new int[]{axis}).out("Out");
    }

    private static String product(Steps steps, String x, String weights) {
        return steps.op("matmul_v2").in("X", x).in("Y", weights).attr("trans_x", false).attr("trans_y", true)
                .out("Out");
    }

    private static String part(Steps steps, String x, int axis, int from, int to) {
        return steps.op("slice").in("Input", x).attr("axes", new int[]{axis}).attr("starts", new int[]{from})
                .attr("ends", new int[]{to}).out("Out");
    }

    private static String number(Steps steps, int value) {
        return steps.op("fill_constant").attr("shape", new long[]{1}).attr("value", (float) value)
                .attr("dtype", DataTypes.number(DType.INT64)).out("Out");
    }

    /** One layer in one direction. */
    private final class Loop {
        private final Steps inner = outer.child();
        private final List<String> states = new ArrayList<>();
        private final List<String> parts = new ArrayList<>();
        private final String input;
        private final int row;
        private final int rows;
        private final boolean backwards;

        Loop(String input, int row, int rows, boolean backwards) {
            this.input = input;
            this.row = row;
            this.rows = rows;
            this.backwards = backwards;
        }

        private String weights(int at) {
            return op.input("WeightList").get(at);
        }

        String append() {
            String bias = outer.binary("elementwise_add", weights(2 * rows + 2 * row), weights(2 * rows + 2 * row + 1));
            String inputs = outer.binary("elementwise_add", product(outer, input, weights(2 * row)), bias);
            split(weights(2 * row + 1));
            for (String state : op.input("PreState")) {
                String first = outer.op("squeeze2").in("X", part(outer, state, 0, row, row + 1))
                        .attr("axes", new int[]{0}).out("Out");
                states.add(outer.op("assign").in("X", first).out("Out"));
            }
            String length = outer.cast(outer.lengths(input, 0, 1), DType.INT64);
            String last = outer.binary("elementwise_sub", length, number(outer, 1));
            String count = number(outer, 0);
            String again = outer.binary("less_than", count, length);
            VarType.TensorType type = outer.tensor(states.getFirst());
            String list = outer.declare(ArgType.array(type.dtype(), -1, size).varType());

            String at = backwards ? inner.binary("elementwise_sub", last, count) : count;
            String x = inner.op("squeeze2").in("X", inner.op("gather").in("X", inputs).in("Index", at)
                    .attr("axis", 0).out("Out")).attr("axes", new int[]{0}).out("Out");
            List<String> next = cell == Cell.RESET_GRU ? List.of(gru(x)) : lstm(x);
            String output = next.getFirst();
            if (!op.input("SequenceLength").isEmpty()) {
                String lengths = inner.cast(inner.reshape(op.input("SequenceLength").getFirst(), -1), DType.INT64);
                String within = unsqueezed(inner,
                        inner.cast(inner.binary("less_than", at, lengths), type.dtype()), 1);
                output = inner.binary("elementwise_mul", output, within);
                List<String> kept = new ArrayList<>();
                for (int i = 0; i < next.size(); i++) {
                    String change = inner.binary("elementwise_sub", next.get(i), states.get(i));
                    kept.add(inner.binary("elementwise_add", states.get(i),
                            inner.binary("elementwise_mul", change, within)));
                }
                next = kept;
            }
            inner.keep(OpDesc.of("write_to_array").in("X", inner.op("assign").in("X", output).out("Out"))
                    .in("I", count).out("Out", list).build());
            for (int i = 0; i < next.size(); i++) {
                assign(next.get(i), states.get(i));
            }
            assign(inner.binary("elementwise_add", count, number(inner, 1)), count);
            assign(inner.binary("less_than", count, length), again);
            List<String> written = new ArrayList<>(states);
            written.addAll(List.of(list, count));
            outer.loop(inner, again, written);
            String all = outer.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                    .out("Out");
            return backwards ? outer.op("flip").in("X", all).attr("axis", new int[]{0}).out("Out") : all;
        }

        private void assign(String value, String variable) {
            inner.keep(OpDesc.of("assign").in("X", value).out("Out", variable).build());
        }

        /** The weights of the gates and of the candidate, or all weights and the peepholes of i, f and o. */
        private void split(String weights) {
            if (cell == Cell.RESET_GRU) {
                parts.add(part(outer, weights, 0, 0, 2 * size));
                parts.add(part(outer, weights, 0, 2 * size, 3 * size));
                return;
            }
            parts.add(weights);
            for (int gate : new int[]{0, 1, 3}) {
                int from = order.peephole(gate) * size;
                parts.add(part(outer, weights(4 * rows + row), 0, from, from + size));
            }
        }

        private String gate(String values, int number) {
            int from = order.place(cell, number) * size;
            return part(inner, values, 1, from, from + size);
        }

        private String gru(String x) {
            String h = states.getFirst();
            String gates = inner.unary("sigmoid", inner.binary("elementwise_add", part(inner, x, 1, 0, 2 * size),
                    product(inner, h, parts.getFirst())));
            String reset = inner.binary("elementwise_mul", gate(gates, 0), h);
            String candidate = inner.unary("tanh",
                    inner.binary("elementwise_add", gate(x, 2), product(inner, reset, parts.get(1))));
            String kept = inner.binary("elementwise_mul", gate(gates, 1),
                    inner.binary("elementwise_sub", h, candidate));
            return inner.binary("elementwise_add", candidate, kept);
        }

        private List<String> lstm(String x) {
            String c = states.get(1);
            String sums = inner.binary("elementwise_add", x, product(inner, states.getFirst(), parts.getFirst()));
            String put = inner.binary("elementwise_mul", peep(gate(sums, 0), 0, c),
                    inner.unary("tanh", gate(sums, 2)));
            String next = inner.binary("elementwise_add", put,
                    inner.binary("elementwise_mul", peep(gate(sums, 1), 1, c), c));
            String out = peep(gate(sums, 3), 2, next);
            return List.of(inner.binary("elementwise_mul", out, inner.unary("tanh", next)), next);
        }

        private String peep(String gate, int peephole, String c) {
            return inner.unary("sigmoid", inner.binary("elementwise_add", gate,
                    inner.binary("elementwise_mul", c, parts.get(1 + peephole))));
        }
    }
}

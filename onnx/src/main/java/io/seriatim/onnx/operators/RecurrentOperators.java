package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Recurrent networks of one layer. */
public final class RecurrentOperators {
    private RecurrentOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.all("LSTM", node -> new Layer(node, "LSTM", 4).results());
        operators.all("GRU", node -> new Layer(node, "GRU", 3).results());
        operators.all("RNN", node -> new Layer(node, "RNN", 1).results());
    }

    private static final class Layer {
        private final Node node;
        private final Steps steps;
        private final String mode;
        private final int gates;
        private final boolean both;
        private final boolean reverse;
        private final boolean batchFirst;
        private final int size;
        private final List<String> activations;

        Layer(Node node, String mode, int gates) {
            this.node = node;
            this.steps = new Steps(node.block());
            this.mode = mode;
            this.gates = gates;
            String direction = node.text("direction", "forward");
            both = direction.equals("bidirectional");
            reverse = direction.equals("reverse");
            if (!both && !reverse && !direction.equals("forward")) {
                throw node.error("attribute 'direction' is forward, reverse or bidirectional, but is '%s'", direction);
            }
            batchFirst = node.flag("layout", false);
            size = Math.toIntExact(node.integer("hidden_size", node.input(2).dim(-1)));
            if (size < 1) {
                throw node.error("needs a known number of hidden units");
            }
            List<String> given = node.texts("activations");
            activations = given == null ? defaults() : given;
        }

        private int directions() {
            return both ? 2 : 1;
        }

        private List<String> defaults() {
            List<String> each = switch (mode) {
                case "LSTM" -> List.of("Sigmoid", "Tanh", "Tanh");
                case "GRU" -> List.of("Sigmoid", "Tanh");
                default -> List.of("Tanh");
            };
            List<String> all = new ArrayList<>(each);
            if (both) {
                all.addAll(each);
            }
            return all;
        }

        /** The mode of the operation {@code rnn}; empty if it has none for the attributes. */
        private String kind() {
            boolean relu = mode.equals("RNN") && activations.stream().allMatch(each -> each.equalsIgnoreCase("Relu"));
            boolean usual = relu || activations.stream().map(String::toLowerCase).toList()
                    .equals(defaults().stream().map(String::toLowerCase).toList());
            boolean peepholes = mode.equals("LSTM") && node.has(7);
            boolean before = mode.equals("GRU") && !node.flag("linear_before_reset", false);
            if (!usual || node.hasAttribute("clip") || node.flag("input_forget", false)) {
                return "";
            }
            return switch (mode) {
                case "LSTM" -> peepholes ? "PEEPHOLE_LSTM" : mode;
                case "GRU" -> before ? "RESET_GRU" : mode;
                default -> relu ? "RNN_RELU" : "RNN_TANH";
            };
        }

        List<Ref> results() {
            Ref x = batchFirst ? steps.transpose(node.input(0), 1, 0, 2) : node.input(0);
            Ref lengths = node.maybe(4);
            String kind = kind();
            List<Ref> states = new ArrayList<>(List.of(state(5, x)));
            if (mode.equals("LSTM")) {
                states.add(state(6, x));
            }
            if (kind.isEmpty()) {
                return loops(x, lengths, states);
            }
            List<Ref> weights = new ArrayList<>();
            List<Ref> biases = new ArrayList<>();
            for (int direction = 0; direction < directions(); direction++) {
                weights.add(select(node.input(1), direction));
                weights.add(select(node.input(2), direction));
                Ref bias = node.maybe(3);
                for (int part = 0; part < 2; part++) {
                    long rows = (long) gates * size;
                    biases.add(bias == null
                            ? steps.op("fill_constant").attr("shape", new long[]{rows}).attr("dtype", x.dtype())
                                    .attr("value", 0f).out("Out")
                            : steps.slice(select(bias, direction), 0, part * rows, (part + 1) * rows));
                }
            }
            weights.addAll(biases);
            if (kind.equals("PEEPHOLE_LSTM")) {
                for (int direction = 0; direction < directions(); direction++) {
                    weights.add(select(node.input(7), direction));
                }
            }
            OpAppender op = steps.op("rnn").in("Input", x).in("PreState", states).in("WeightList", weights)
                    .maybe("SequenceLength", lengths).attr("mode", kind).attr("is_bidirec", both)
                    .attr("input_size", x.dim(2)).attr("hidden_size", size).attr("num_layers", 1)
                    .attr("is_test", true).attr("gate_order", "onnx").attr("is_reverse", reverse);
            List<Ref> all = op.lists(List.of("Out", "State", "Reserve"), List.of(1, states.size(), 1));
            return shaped(all.get(0), all.subList(1, 1 + states.size()));
        }

        /** Each direction as a loop. */
        private List<Ref> loops(Ref x, @Nullable Ref lengths, List<Ref> initial) {
            List<RecurrentLoop.Activation> all = RecurrentLoop.Activation.of(node, activations);
            int functions = defaults().size() / directions();
            if (all.size() != functions * directions()) {
                throw node.error("has %d activations for each direction, but its attribute 'activations' lists %s",
                        functions, activations);
            }
            List<RecurrentLoop.Results> results = new ArrayList<>();
            for (int direction = 0; direction < directions(); direction++) {
                List<Ref> states = new ArrayList<>();
                for (Ref each : initial) {
                    states.add(select(each, direction));
                }
                RecurrentLoop.Weights weights = new RecurrentLoop.Weights(select(node.input(1), direction),
                        select(node.input(2), direction), selectMaybe(3, direction),
                        mode.equals("LSTM") ? selectMaybe(7, direction) : null);
                RecurrentLoop loop = new RecurrentLoop(node, mode, size,
                        all.subList(direction * functions, (direction + 1) * functions));
                results.add(loop.append(x, lengths, weights, states, reverse || direction == 1));
            }
            Ref y = steps.concat(2, results.stream().map(RecurrentLoop.Results::outputs).toArray(Ref[]::new));
            List<Ref> last = new ArrayList<>();
            for (int state = 0; state < initial.size(); state++) {
                int index = state;
                last.add(steps.op("stack")
                        .in("X", results.stream().map(each -> each.states().get(index)).toList()).attr("axis", 0)
                        .out("Y"));
            }
            return shaped(y, last);
        }

        private @Nullable Ref selectMaybe(int operand, int direction) {
            @Nullable
            Ref given = node.maybe(operand);
            return given == null ? null : select(given, direction);
        }

        /** Y, Y_h and for an LSTM Y_c, in the layout of the node. */
        private List<Ref> shaped(Ref out, List<Ref> states) {
            Ref y = steps.reshape(out, 0, 0, directions(), size);
            List<Ref> results = new ArrayList<>();
            results.add(batchFirst ? steps.transpose(y, 1, 0, 2, 3) : steps.transpose(y, 0, 2, 1, 3));
            for (Ref state : states) {
                results.add(batchFirst ? steps.transpose(state, 1, 0, 2) : state);
            }
            return results;
        }

        private Ref select(Ref x, int direction) {
            return steps.squeeze(directions() == 1 ? x : steps.slice(x, 0, direction, direction + 1L), 0);
        }

        private Ref state(int operand, Ref x) {
            @Nullable
            Ref given = node.maybe(operand);
            if (given != null) {
                return batchFirst ? steps.transpose(given, 1, 0, 2) : given;
            }
            if (x.dim(1) >= 0) {
                return steps.op("fill_constant").attr("shape", new long[]{directions(), x.dim(1), size})
                        .attr("dtype", x.dtype()).attr("value", 0f).out("Out");
            }
            Ref batch = steps.length(x, 1);
            Ref shape = steps.concat(0, steps.block().integers(DType.INT64, directions()), batch,
                    steps.block().integers(DType.INT64, size));
            return steps.filled(shape, x.dtype(), 0);
        }
    }
}

package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Size;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a recurrent layer as a loop over its steps. It takes the forms that the operation {@code rnn} lacks:
 * other activations, a bound for their operands, peepholes, coupled gates, and a reset before the product.
 */
final class RecurrentLoop {
    private static final long MOST_UNROLLED = 4;

    private final Node node;
    private final String mode;
    private final int size;
    private final List<Activation> activations;
    private final boolean before;
    private final boolean coupled;
    private final @Nullable Float clip;

    /** What a direction reads: the operands of the node, without the axis of directions. */
    record Weights(Ref input, Ref recurrent, @Nullable Ref bias, @Nullable Ref peepholes) {
    }

    /** A function of the gates with its parameters. */
    record Activation(String name, float alpha, float beta) {
        private static final float NONE = Float.NaN;
        /** Functions with parameters: the defaults of alpha and beta, NaN for a parameter that a function has not. */
        private static final Map<String, float[]> DEFAULTS = Map.of("affine", new float[]{1, 0}, "leakyrelu",
                new float[]{0.01f, NONE}, "thresholdedrelu", new float[]{1, NONE}, "scaledtanh", new float[]{1, 1},
                "hardsigmoid", new float[]{0.2f, 0.5f}, "elu", new float[]{1, NONE});

        /** Those of a node; each takes as many of the given parameters as it has. */
        static List<Activation> of(Node node, List<String> names) {
            List<Float> alphas = given(node, "activation_alpha");
            List<Float> betas = given(node, "activation_beta");
            int alpha = 0;
            int beta = 0;
            List<Activation> activations = new ArrayList<>();
            for (String name : names) {
                String key = name.toLowerCase(Locale.ROOT);
                float[] defaults = DEFAULTS.getOrDefault(key, new float[]{NONE, NONE});
                float first = defaults[0];
                float second = defaults[1];
                if (!Float.isNaN(first) && alpha < alphas.size()) {
                    first = alphas.get(alpha++);
                }
                if (!Float.isNaN(second) && beta < betas.size()) {
                    second = betas.get(beta++);
                }
                activations.add(new Activation(key, first, second));
            }
            return activations;
        }

        private static List<Float> given(Node node, String attribute) {
            List<Float> values = node.reals(attribute);
            return values == null ? List.of() : values;
        }

        Ref apply(Node node, Steps steps, Ref x) {
            return switch (name) {
                case "relu", "sigmoid", "tanh", "softsign", "softplus" -> steps.unary(name, x);
                case "affine" -> steps.linear(x, alpha, beta);
                case "leakyrelu" -> steps.op("leaky_relu").in("X", x).attr("alpha", alpha).out("Out");
                case "thresholdedrelu" ->
                    steps.op("thresholded_relu").in("X", x).attr("threshold", alpha).out("Out");
                case "scaledtanh" ->
                    steps.linear(steps.unary("tanh", steps.linear(x, beta, 0)), alpha, 0);
                case "hardsigmoid" ->
                    steps.op("hard_sigmoid").in("X", x).attr("slope", alpha).attr("offset", beta).out("Out");
                case "elu" -> steps.op("elu").in("X", x).attr("alpha", alpha).out("Out");
                default -> throw node.error("there is no activation '%s'; the specification has Relu, Tanh, Sigmoid, "
                        + "Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign and Softplus",
                        name);
            };
        }
    }

    /** What a direction gives: the outputs of all steps in the order of time, and the last states. */
    record Results(Ref outputs, List<Ref> states) {
    }

    RecurrentLoop(Node node, String mode, int size, List<Activation> activations) {
        this.node = node;
        this.mode = mode;
        this.size = size;
        this.activations = activations;
        this.before = node.flag("linear_before_reset", false);
        this.coupled = node.flag("input_forget", false);
        this.clip = node.hasAttribute("clip") ? node.real("clip", 0) : null;
        if (clip != null && !(clip >= 0)) {
            throw node.error("the attribute 'clip' is at least 0, but is %s", clip);
        }
    }

    /**
     * Appends the loop.
     *
     * @param x
     *            [steps, batch, features]
     * @param lengths
     *            of the sequences of the batch
     * @param initial
     *            states, each [batch, size]
     */
    Results append(Ref x, @Nullable Ref lengths, Weights weights, List<Ref> initial, boolean reverse) {
        BlockBuilder outer = node.block();
        Steps steps = new Steps(outer);
        int gates = gateCount();
        Ref inputs = steps.matmul(x, weights.input(), false, true);
        @Nullable
        Ref bias = weights.bias();
        @Nullable
        Ref recurrentBias = null;
        if (bias != null) {
            inputs = steps.add(inputs, steps.slice(bias, 0, 0, (long) gates * size));
            recurrentBias = steps.slice(bias, 0, (long) gates * size, 2L * gates * size);
        }
        if (x.dim(0) >= 1 && x.dim(0) <= MOST_UNROLLED) {
            return unrolled(inputs, lengths, new Cell(steps, weights, recurrentBias), initial, (int) x.dim(0), reverse);
        }
        Ref length = Size.of(outer, x, 0).tensor(outer);
        Ref again = outer.declare(ArgType.dense(DType.BOOL, 1));
        outer.op("assign").in("X", outer.binary("less_than", outer.integers(DType.INT64, 0), length))
                .to("Out", again).append();
        LoopSteps loop = new LoopSteps(node, again);
        initial.forEach(loop::state);
        BlockBuilder inner = loop.inner;
        Ref at = reverse
                ? inner.binary("elementwise_sub", inner.binary("elementwise_sub", length,
                        inner.integers(DType.INT64, 1)), loop.count)
                : loop.count;
        Ref input = inner.squeeze(inner.op("gather").in("X", inputs).in("Index", at).attr("axis", 0).out("Out"), 0);
        List<Ref> next = new Cell(new Steps(inner), weights, recurrentBias).step(input, loop.states);
        Ref output = within(inner, lengths, at, next, loop.states);
        loop.collect(List.of(output));
        Ref follows = inner.binary("less_than", loop.next(), length);
        loop.pass(next);
        loop.end(follows);
        Ref outputs = loop.stacked(0);
        return new Results(reverse
                ? steps.op("flip").in("X", outputs).attr("axis", new int[]{0}).out("Out")
                : outputs, loop.states);
    }

    /** The steps one after the other, without a loop: few of them cost less so, and can be fused. */
    private Results unrolled(Ref inputs, @Nullable Ref lengths, Cell cell, List<Ref> initial, int count,
            boolean reverse) {
        BlockBuilder block = node.block();
        Steps steps = new Steps(block);
        List<Ref> states = initial;
        List<Ref> outputs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int at = reverse ? count - 1 - i : i;
            Ref input = block.squeeze(steps.slice(inputs, 0, at, at + 1L), 0);
            List<Ref> next = new ArrayList<>(cell.step(input, states));
            Ref output = within(block, lengths, block.integers(DType.INT64, at), next, states);
            outputs.add(reverse ? 0 : i, output);
            states = next;
        }
        return new Results(steps.op("stack").in("X", outputs).attr("axis", 0).out("Y"), states);
    }

    /**
     * The output of a step. Behind the end of a sequence it is 0, and the states stay as they are.
     *
     * @param at
     *            the step, counted in the order of time
     * @param next
     *            the states after the step, which are replaced
     */
    private static Ref within(BlockBuilder block, @Nullable Ref lengths, Ref at, List<Ref> next, List<Ref> states) {
        Ref output = next.getFirst();
        if (lengths != null) {
            Ref inside = block.unsqueeze(
                    block.binary("less_than", at, block.cast(block.reshape(lengths, -1), DType.INT64)), 1);
            output = select(block, inside, output, block.op("fill_any_like").in("X", output).attr("value", 0f)
                    .attr("dtype", output.dtype()).out("Out"));
            for (int i = 0; i < next.size(); i++) {
                next.set(i, select(block, inside, next.get(i), states.get(i)));
            }
        }
        return output;
    }

    private static Ref select(BlockBuilder block, Ref condition, Ref x, Ref y) {
        return block.op("onnx_where").in("Condition", condition).in("X", x).in("Y", y).out("Out");
    }

    private int gateCount() {
        return switch (mode) {
            case "LSTM" -> 4;
            case "GRU" -> 3;
            default -> 1;
        };
    }

    /** One step. */
    private final class Cell {
        private final Steps steps;
        private final Weights weights;
        private final @Nullable Ref bias;

        Cell(Steps steps, Weights weights, @Nullable Ref bias) {
            this.steps = steps;
            this.weights = weights;
            this.bias = bias;
        }

        List<Ref> step(Ref input, List<Ref> states) {
            return switch (mode) {
                case "LSTM" -> lstm(input, states.get(0), states.get(1));
                case "GRU" -> Steps.list(gru(input, states.getFirst()));
                default -> Steps.list(activate(0, steps.add(input, product(states.getFirst(), 0, 1))));
            };
        }

        /** A state times the weights of some gates, with their bias. */
        private Ref product(Ref state, int from, int to) {
            boolean all = from == 0 && to == gateCount();
            Ref weight = all ? weights.recurrent() : part(weights.recurrent(), from, to);
            Ref product = steps.matmul(state, weight, false, true);
            if (bias == null) {
                return product;
            }
            return steps.add(product, all ? bias : part(bias, from, to));
        }

        private Ref part(Ref rows, int from, int to) {
            return steps.slice(rows, 0, (long) from * size, (long) to * size);
        }

        private Ref gate(Ref x, int index) {
            return gates(x, index, index + 1);
        }

        private Ref gates(Ref x, int from, int to) {
            return steps.slice(x, 1, (long) from * size, (long) to * size);
        }

        private Ref activate(int function, Ref x) {
            Ref bounded = x;
            if (clip != null) {
                OpAppender op = steps.op("clip").in("X", x).attr("min", -clip).attr("max", clip);
                bounded = op.out("Out");
            }
            return activations.get(function).apply(node, steps, bounded);
        }

        /** The gates are update, reset and hidden. */
        private Ref gru(Ref input, Ref state) {
            Ref both = steps.add(gates(input, 0, 2), product(state, 0, 2));
            Ref update = activate(0, gate(both, 0));
            Ref reset = activate(0, gate(both, 1));
            Ref last = gate(input, 2);
            Ref recurrent = before ? steps.mul(reset, product(state, 2, 3)) : product(steps.mul(reset, state), 2, 3);
            Ref hidden = activate(1, steps.add(last, recurrent));
            return steps.add(steps.mul(steps.linear(update, -1, 1), hidden), steps.mul(update, state));
        }

        /** The gates are input, output, forget and cell. */
        private List<Ref> lstm(Ref input, Ref state, Ref cell) {
            Ref all = steps.add(input, product(state, 0, 4));
            Ref in = activate(0, peep(gate(all, 0), cell, 0));
            Ref forget = coupled ? steps.linear(in, -1, 1) : activate(0, peep(gate(all, 2), cell, 2));
            Ref candidate = activate(1, gate(all, 3));
            Ref next = steps.add(steps.mul(forget, cell), steps.mul(in, candidate));
            Ref out = activate(0, peep(gate(all, 1), next, 1));
            return Steps.list(steps.mul(out, activations.get(2).apply(node, steps, next)), next);
        }

        private Ref peep(Ref gate, Ref cell, int index) {
            @Nullable
            Ref peepholes = weights.peepholes();
            return peepholes == null ? gate : steps.add(gate, steps.mul(part(peepholes, index, index + 1), cell));
        }
    }
}

package io.seriatim.graph.ops.fused;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.Softmax;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A linear layer, layers of attention, and normalisation of a sum. */
public final class FusedOperations {
    /** How many rows and columns padded weights have more than they need. */
    private static final int PADDING = 4;

    private static final MatMul TRANSPOSED = new MatMul(false, true, false, List.of());
    private static final MatMul WITH_BIAS = new MatMul(false, false, true, List.of());

    private FusedOperations() {
    }

    public static void register(Operations registry) {
        linear(registry);
        attention(registry);
        selfAttention(registry);
        normalised(registry);
    }

    private static void linear(Operations registry) {
        Operation.define("fc").in("Input", "W", "Bias?").out("Out").attr("in_num_col_dims", 1)
                .attr("activation_type", "").attr("padding_weights", false).infer(inference -> {
                    Checks.floating(inference, "Input", "W");
                    long[] input = inference.dims("Input");
                    long[] weights = inference.dims("W");
                    int kept = inference.attrs().getInt("in_num_col_dims");
                    inference.require(weights.length == 2, "W must have the shape [inputs, outputs], but has %s",
                            Numbers.text(weights));
                    inference.require(kept >= 1 && kept < input.length,
                            "in_num_col_dims must be from 1 to less than the rank of Input, %d, but is %d",
                            input.length, kept);
                    String function = inference.attrs().getText("activation_type");
                    inference.require(Set.of("", "relu").contains(function),
                            "activation_type must be relu or empty, but is '%s'", function);
                    int padding = inference.attrs().getBool("padding_weights") ? PADDING : 0;
                    long inputs = weights[0] < 0 ? -1 : weights[0] - padding;
                    long outputs = weights[1] < 0 ? -1 : weights[1] - padding;
                    long width = Inference.size(Arrays.copyOfRange(input, kept, input.length));
                    inference.require(width < 0 || inputs < 0 || width == inputs,
                            "W must have a row for each of %d inputs, but has %d", width, inputs);
                    if (inference.has("Bias")) {
                        Checks.floating(inference, "Input", "Bias");
                        Checks.elements(inference, "Bias", outputs);
                    }
                    long[] dims = Arrays.copyOf(input, kept + 1);
                    dims[kept] = outputs;
                    inference.set("Out", inference.dtype("Input"), dims);
                }).lower(FusedOperations::linear).register(registry);
    }

    private static void linear(Lowering l) {
        long[] dims = l.outType("Out", 0).dims();
        long outputs = dims[dims.length - 1];
        long rows = Inference.size(Arrays.copyOf(dims, dims.length - 1));
        Operand input = l.in("Input");
        Operand weights = l.in("W");
        long inputs = weights.dim(0) - (l.attrs().getBool("padding_weights") ? PADDING : 0);
        Operand used = weights.slice(0, 0, inputs).slice(1, 0, outputs);
        Operand result = product(l, l.reshape(input, rows, inputs), used, l.optional("Bias"));
        if (l.attrs().getText("activation_type").equals("relu")) {
            result = l.unary(Unary.Function.RELU, result);
        }
        l.out("Out", l.reshape(result, dims));
    }

    private static Operand product(Lowering l, Operand rows, Operand weights, @Nullable Operand bias) {
        return bias == null
                ? l.run(MatMul.PLAIN, rows, weights)
                : l.run(WITH_BIAS, rows, weights, l.reshape(bias, bias.shape().size()));
    }

    /** Queries, keys and values by one product, then attention of several heads. Paddle has it for other processors. */
    private static void attention(Operations registry) {
        Operation.define("multihead_matmul").in("Input", "W", "Bias", "BiasQK?").out("Out")
                .attr("transpose_Q", false).attr("transpose_K", true).attr("transpose_V", false).attr("alpha", 1f)
                .attr("head_number", 1).infer(inference -> {
                    Checks.floating(inference, "Input", "W", "Bias");
                    long[] input = inference.dims("Input");
                    long[] weights = inference.dims("W");
                    inference.require(input.length == 3 && weights.length >= 3 && weights[1] == 3,
                            "Input must have the shape [batch, steps, inputs] and W [inputs, 3, …], but they have %s and %s",
                            Numbers.text(input), Numbers.text(weights));
                    inference.require(input[2] < 0 || weights[0] < 0 || input[2] == weights[0],
                            "W must have a row for each of %d inputs, but has %d", input[2], weights[0]);
                    long width = Inference.size(Arrays.copyOfRange(weights, 2, weights.length));
                    Checks.elements(inference, "Bias", 3 * width);
                    requireHeads(inference, width);
                    if (inference.has("BiasQK")) {
                        Checks.floating(inference, "Input", "BiasQK");
                    }
                    inference.set("Out", inference.dtype("Input"), input[0], input[1], width);
                }).lower(l -> {
                    Operand input = l.in("Input");
                    Operand weights = l.in("W");
                    long heads = l.attrs().getLong("head_number");
                    long columns = weights.shape().size() / weights.dim(0);
                    long batch = input.dim(0);
                    long steps = input.dim(1);
                    Operand all = product(l, l.reshape(input, batch * steps, input.dim(2)),
                            l.reshape(weights, weights.dim(0), columns), l.in("Bias"));
                    Operand parts = all.reshape(batch, steps, 3, heads, columns / 3 / heads);
                    l.out("Out", l.reshape(attend(l, parts, l.optional("BiasQK")), batch, steps, columns / 3));
                }).register(registry);
    }

    private static void requireHeads(Inference inference, long width) {
        long heads = inference.attrs().getLong("head_number");
        inference.require(heads >= 1 && (width < 0 || width % heads == 0),
                "head_number must divide the %d columns, but is %d", width, heads);
    }

    private static void selfAttention(Operations registry) {
        Operation.define("self_dp_attention").in("X").out("Out").attr("alpha", 1f).attr("head_number", 1)
                .infer(inference -> {
                    Checks.floating(inference, "X");
                    long[] x = inference.dims("X");
                    inference.require(x.length == 5 && (x[2] == 3 || x[2] < 0),
                            "X must have the shape [batch, steps, 3, heads, width], but has %s", Numbers.text(x));
                    inference.set("Out", inference.dtype("X"), x[0], x[1], x[3], x[4]);
                }).lower(l -> l.out("Out", attend(l, l.in("X"), null))).register(registry);
    }

    /** Of queries, keys and values, [batch, steps, 3, heads, width]: [batch, steps, heads, width]. */
    private static Operand attend(Lowering l, Operand parts, @Nullable Operand mask) {
        Operand queries = parts.select(2, 0).transpose(0, 2, 1, 3);
        Operand keys = parts.select(2, 1).transpose(0, 2, 1, 3);
        Operand values = parts.select(2, 2).transpose(0, 2, 1, 3);
        Operand scores = l.linear(l.run(TRANSPOSED, queries, keys), l.attrs().getDouble("alpha"), 0);
        if (mask != null) {
            scores = l.binary(Binary.Function.ADD, scores, mask);
        }
        Operand result = l.run(MatMul.PLAIN, l.run(new Softmax(3, false), scores), values);
        return l.copy(result.transpose(0, 2, 1, 3));
    }

    private static void normalised(Operations registry) {
        Operation.define("skip_layernorm").in("X", "Y", "Scale", "Bias").out("Out")
                .required("epsilon", Attribute.Real.class).required("begin_norm_axis", Attribute.Int.class)
                .infer(inference -> {
                    Checks.floating(inference, "X", "Y", "Scale", "Bias");
                    long[] x = inference.dims("X");
                    Checks.shape(inference, "Y", x);
                    int axis = inference.attrs().getInt("begin_norm_axis");
                    inference.require(axis >= 1 && axis < x.length,
                            "begin_norm_axis must be from 1 to less than the rank of X, %d, but is %d", x.length, axis);
                    long width = Inference.size(Arrays.copyOfRange(x, axis, x.length));
                    Checks.elements(inference, "Scale", width);
                    Checks.elements(inference, "Bias", width);
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand sum = l.binary(Binary.Function.ADD, l.in("X"), l.in("Y"));
                    LayerNorm norm = new LayerNorm(l.attrs().getInt("begin_norm_axis"), l.attrs().getFloat("epsilon"),
                            true, true);
                    l.out("Out", l.run(norm, sum, l.in("Scale"), l.in("Bias")));
                }).register(registry);
    }
}

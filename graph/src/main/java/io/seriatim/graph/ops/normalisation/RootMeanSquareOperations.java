package io.seriatim.graph.ops.normalisation;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Rounding;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * rms_norm: rows divided by the root of the mean of their squares, of x alone or of x with a residual and a bias; the
 * result may be rounded to bytes.
 */
public final class RootMeanSquareOperations {
    private RootMeanSquareOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("rms_norm").in("x", "bias?", "residual?", "norm_weight", "norm_bias?")
                .out("out", "residual_out?").required("epsilon", Attribute.Real.class)
                .required("begin_norm_axis", Attribute.Int.class).attr("quant_scale", -1f).attr("quant_round_type", 0)
                .attr("quant_max_bound", 0f).attr("quant_min_bound", 0f).infer(RootMeanSquareOperations::infer)
                .lower(RootMeanSquareOperations::lower).register(registry);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("x");
        int axis = inference.attrs().getInt("begin_norm_axis");
        inference.require(inference.dtype("x").isFloating(), "x must be of a floating-point type, but is %s",
                inference.dtype("x"));
        inference.require(axis > 0 && axis < x.length, "begin_norm_axis must be from 1 to %d, but is %d",
                x.length - 1, axis);
        long length = Inference.size(Arrays.copyOfRange(x, axis, x.length));
        for (String slot : List.of("norm_weight", "norm_bias", "bias")) {
            if (inference.has(slot)) {
                long size = Inference.size(inference.dims(slot));
                inference.require(size < 0 || length < 0 || size == length,
                        "%s must have as many numbers as a row of x, %d, but has %d", slot, length, size);
            }
        }
        if (inference.has("residual")) {
            long[] residual = inference.dims("residual");
            inference.require(residual.length == x.length, "residual must have the shape of x, %s, but has %s",
                    Numbers.text(x), Numbers.text(residual));
            for (int i = 0; i < x.length; i++) {
                inference.require(x[i] < 0 || residual[i] < 0 || x[i] == residual[i],
                        "residual must have the shape of x, %s, but has %s", Numbers.text(x),
                        Numbers.text(residual));
            }
        }
        boolean bytes = inference.attrs().getFloat("quant_scale") > 0;
        if (bytes) {
            Rounding.checkBounds(inference);
        }
        inference.set("out", bytes ? DType.INT8 : inference.dtype("x"), x);
        inference.same("x", "residual_out");
    }

    private static void lower(Lowering l) {
        long[] dims = l.in("x").shape().dims();
        int axis = l.attrs().getInt("begin_norm_axis");
        long length = Inference.size(Arrays.copyOfRange(dims, axis, dims.length));
        long rows = Inference.size(Arrays.copyOf(dims, axis));
        DType arithmetic = l.in("x").dtype().arithmetic();
        Operand x = l.cast(l.in("x"), arithmetic).reshape(rows, length);
        if (l.has("residual")) {
            x = plus(l, l.binary(Binary.Function.ADD, x, l.cast(l.in("residual"), arithmetic).reshape(rows, length)),
                    row(l, "bias", arithmetic));
        }
        l.out("residual_out", x.reshape(dims));
        Operand squares = l.run(new Reduction(Reduction.Function.SUM_OF_SQUARES, List.of(1), true), x);
        Operand mean = l.binary(Binary.Function.DIVIDE, squares, l.number(arithmetic, (double) length));
        Operand raised = l.binary(Binary.Function.ADD, mean, l.number(arithmetic, l.attrs().getFloat("epsilon")));
        Operand normal = l.binary(Binary.Function.MULTIPLY, x, l.unary(Unary.Function.RSQRT, raised));
        Operand weighted = l.binary(Binary.Function.MULTIPLY, normal,
                l.cast(l.in("norm_weight"), arithmetic).reshape(length));
        Operand result = plus(l, weighted, row(l, "norm_bias", arithmetic));
        float scale = l.attrs().getFloat("quant_scale");
        l.out("out", (scale > 0
                ? Rounding.toBytes(l, result, scale, l.attrs().getFloat("quant_min_bound"),
                        l.attrs().getFloat("quant_max_bound"), l.attrs().getLong("quant_round_type") == 1)
                : result).reshape(dims));
    }

    private static @Nullable Operand row(Lowering l, String slot, DType dtype) {
        return l.has(slot) ? l.cast(l.in(slot), dtype).reshape(l.in(slot).shape().size()) : null;
    }

    private static Operand plus(Lowering l, Operand x, @Nullable Operand row) {
        return row == null ? x : l.binary(Binary.Function.ADD, x, row);
    }
}

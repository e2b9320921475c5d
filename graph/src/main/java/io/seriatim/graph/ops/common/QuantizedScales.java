package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The scales of products and convolutions of int8 levels, the operations {@code quantized_conv2d} and the like, which
 * an executor uses in place of floating-point ones whose operands are dequantized. A level stands for scale / most
 * times itself, so that the sum of products of levels is multiplied with both scales and divided by the attribute
 * {@code divisor}, the product of the largest levels. The scale of the activations is a single number; the weights have
 * one scale, or one for each output channel.
 */
public final class QuantizedScales {
    /** The prefix of the types of these operations. */
    public static final String PREFIX = "quantized_";

    /** The post-op that multiplies sums with {@link #of}. */
    public static final List<PostOp> SCALED = List.of(new PostOp.Combine(Binary.Function.MULTIPLY));

    private QuantizedScales() {
    }

    /** Begins the schema of the quantized form of an operation. */
    public static Operation.Builder define(String type, String activations, String weights, String result) {
        return Operation.define(PREFIX + type).in(activations, weights, activations + "Scale", weights + "Scale")
                .out(result).attr("divisor", 1f);
    }

    /** Checks types and scales, and makes the result float32 in place of the levels' type. */
    public static void infer(Inference inference, String activations, String weights, String result) {
        inference.require(inference.dtype(activations) == DType.INT8, "%s must be int8, but is %s", activations,
                inference.dtype(activations));
        DType dtype = inference.dtype(weights);
        inference.require(dtype == DType.INT8 || dtype == DType.FLOAT32,
                "%s must hold levels in int8 or float32, but is %s", weights, dtype);
        float divisor = inference.attrs().getFloat("divisor");
        inference.require(divisor > 0 && Float.isFinite(divisor), "divisor must be positive and finite, but is %s",
                divisor);
        List<@Nullable ArgType> results = Objects.requireNonNull(inference.results().get(result));
        long[] dims = Objects.requireNonNull(results.getFirst()).dims();
        scale(inference, activations + "Scale", -1);
        scale(inference, weights + "Scale", inference.type().contains("conv") ? 1 : dims.length - 1);
        inference.set(result, DType.FLOAT32, dims);
    }

    /** A single number or, with a channel axis of the result, one for each channel. */
    private static void scale(Inference inference, String slot, int axis) {
        inference.require(inference.dtype(slot) == DType.FLOAT32, "%s must be float32, but is %s", slot,
                inference.dtype(slot));
        long size = Inference.size(inference.dims(slot));
        inference.require(size == 1 || size < 0 || axis >= 0, "%s must hold one number, but holds %d", slot, size);
    }

    /** Scales of the sums, [1] or [channels]. */
    public static Operand of(Lowering l, String activations, String weights) {
        Operand channels = l.in(weights + "Scale");
        Operand scales = l.binary(Binary.Function.MULTIPLY, l.reshape(channels, channels.shape().size()),
                l.reshape(l.in(activations + "Scale"), 1));
        return l.linear(scales, 1 / (double) l.attrs().getFloat("divisor"), 0);
    }
}

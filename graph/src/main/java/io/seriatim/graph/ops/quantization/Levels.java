package io.seriatim.graph.ops.quantization;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Rounding;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The levels to which numbers are rounded: whole numbers from −most to most, the level of the scale. With halves to
 * even there is one level more, below.
 *
 * @param most
 *            the largest level
 * @param away
 *            whether halves are rounded away from 0, otherwise to even
 */
record Levels(int most, boolean away) {
    private static final int LARGEST_BITS = 16;

    /** Scales up to this count as 0; what is added to them before they divide. */
    private static final double SMALLEST = 1e-30f;

    private static final double ADDED = 1e-6f;

    /** Those of the attributes bit_length and round_type. */
    static Levels of(Attrs attrs) {
        return new Levels(most(attrs.getInt("bit_length")), attrs.getInt("round_type") != 0);
    }

    /** The largest level of so many bits. */
    static int most(int bits) {
        return (1 << (bits - 1)) - 1;
    }

    static void check(Inference inference) {
        checkBits(inference, "bit_length", inference.attrs().getLong("bit_length"));
        long type = inference.attrs().getLong("round_type");
        inference.require(type == 0 || type == 1,
                "round_type must be 0, halves to even, or 1, halves away from 0, but is %d", type);
    }

    static void checkBits(Inference inference, String attribute, long bits) {
        inference.require(bits >= 1 && bits <= LARGEST_BITS, "%s must be from 1 to %d, but is %d", attribute,
                LARGEST_BITS, bits);
    }

    /** The axis of the channels of X, 0 or 1. */
    static int channelAxis(Inference inference) {
        long axis = inference.attrs().getLong("quant_axis");
        int rank = inference.dims("X").length;
        inference.require((axis == 0 || axis == 1) && axis < rank,
                "quant_axis must be 0 or 1 and one of the %d dimensions of X, but is %d", rank, axis);
        return (int) axis;
    }

    /** A slot must hold one number for each channel, in the type of X. */
    static void checkScales(Inference inference, String slot, int index, long channels) {
        long size = Inference.size(inference.in(slot, index).dims());
        inference.require(size < 0 || channels < 0 || size == channels,
                "%s must hold %d numbers, but holds %d", slot, channels, size);
        inference.require(inference.in(slot, index).dtype().isFloating(),
                "%s must be of a floating-point type, but is %s", slot, inference.in(slot, index).dtype());
    }

    static void checkNumber(Inference inference, String slot) {
        if (inference.has(slot)) {
            checkScales(inference, slot, 0, 1);
        }
    }

    /** Numbers, one for each channel, so that they broadcast with a tensor whose channels are at an axis. */
    static Operand along(Lowering l, Operand scales, int rank, int axis) {
        long[] dims = new long[rank];
        Arrays.fill(dims, 1);
        dims[axis] = scales.shape().size();
        return l.reshape(scales, dims);
    }

    /** The largest magnitude, [1]. A NaN counts only if it comes first, as in Paddle. */
    static Operand scale(Lowering l, Operand x) {
        if (x.shape().size() == 0) {
            return l.fill(0, TensorSpec.of(x.dtype(), 1));
        }
        Operand most = l.run(new Reduction(Reduction.Function.MAX, List.of(), false), magnitudes(l, x)).reshape(1);
        Operand first = x.reshape(x.shape().size()).slice(0, 0, 1);
        return l.run(new Where(), l.unary(Unary.Function.IS_NAN, first), first, most);
    }

    /** The largest magnitude of each channel, [channels]. */
    static Operand scales(Lowering l, Operand x, int axis) {
        long channels = x.dim(axis);
        if (x.shape().size() == 0) {
            return l.fill(0, TensorSpec.of(x.dtype(), channels));
        }
        List<Integer> others = IntStream.range(0, x.rank()).filter(i -> i != axis).boxed().toList();
        Operand sizes = magnitudes(l, x);
        Operand most = others.isEmpty() ? sizes : l.run(new Reduction(Reduction.Function.MAX, others, false), sizes);
        if (axis != 0) {
            return most;
        }
        Operand first = x.reshape(channels, x.shape().size() / channels).select(1, 0);
        return l.run(new Where(), l.unary(Unary.Function.IS_NAN, first), first, most);
    }

    private static Operand magnitudes(Lowering l, Operand x) {
        return l.run(new Where(), l.unary(Unary.Function.IS_NAN, x), l.number(x.dtype(), 0),
                l.unary(Unary.Function.ABS, x));
    }

    /** The levels of numbers; scales broadcast. Every product is rounded as in Paddle, on which levels depend. */
    Operand quantize(Lowering l, Operand x, Operand scale) {
        Operand factor = factor(l, scale);
        if (!away) {
            Operand nearest = l.unary(Unary.Function.ROUND, l.binary(Binary.Function.MULTIPLY, factor, x));
            return l.run(new Unary(Unary.Function.CLIP, -most - 1, most), nearest);
        }
        Operand inside = l.binary(Binary.Function.MAXIMUM, l.binary(Binary.Function.MINIMUM, x, scale),
                l.unary(Unary.Function.NEGATE, scale));
        return Rounding.awayFromZero(l, l.binary(Binary.Function.MULTIPLY, factor, inside));
    }

    /** What numbers are multiplied with before they are rounded. */
    Operand factor(Lowering l, Operand scale) {
        return l.binary(Binary.Function.MULTIPLY, l.number(scale.dtype(), most), inverse(l, scale));
    }

    private static Operand inverse(Lowering l, Operand scale) {
        Operand isZero = l.binary(Binary.Function.LESS_EQUAL, scale, l.number(scale.dtype(), SMALLEST));
        Operand divisor = l.run(new Where(), isZero,
                l.binary(Binary.Function.ADD, scale, l.number(scale.dtype(), ADDED)), scale);
        return l.binary(Binary.Function.DIVIDE, l.number(scale.dtype(), 1), divisor);
    }

    /** The numbers of levels. */
    Operand dequantize(Lowering l, Operand levels, Operand scale) {
        return divided(l, l.binary(Binary.Function.MULTIPLY, levels, scale), most);
    }

    static Operand divided(Lowering l, Operand product, double divisor) {
        return l.binary(Binary.Function.DIVIDE, product, l.number(product.dtype(), divisor));
    }
}

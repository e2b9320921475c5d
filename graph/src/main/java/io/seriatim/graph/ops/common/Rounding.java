package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;

/** Rounding to whole numbers, and to bytes. */
public final class Rounding {
    private Rounding() {
    }

    /** The nearest whole numbers; halves are rounded away from 0, unlike in the computation. */
    public static Operand awayFromZero(Lowering l, Operand x) {
        Operand nearest = l.unary(Unary.Function.ROUND, x);
        if (!x.dtype().isFloating()) {
            return nearest;
        }
        Operand half = l.number(x.dtype(), 0.5);
        Operand away = l.binary(Binary.Function.MULTIPLY, l.unary(Unary.Function.SIGN, x), half);
        Operand distance = l.unary(Unary.Function.ABS, l.binary(Binary.Function.SUBTRACT, x, nearest));
        return l.run(new Where(), l.binary(Binary.Function.EQUAL, distance, half),
                l.binary(Binary.Function.ADD, x, away), nearest);
    }

    /**
     * Numbers times most · scale, rounded and clipped to bounds, as bytes. Halves are rounded away from 0 if so wanted,
     * otherwise to even.
     */
    public static Operand toBytes(Lowering l, Operand x, float scale, float least, float most, boolean away) {
        Operand scaled = l.binary(Binary.Function.MULTIPLY, l.cast(x, DType.FLOAT32),
                l.number(DType.FLOAT32, most * scale));
        Operand rounded = away ? awayFromZero(l, scaled) : l.unary(Unary.Function.ROUND, scaled);
        return l.cast(l.run(new Unary(Unary.Function.CLIP, least, most), rounded), DType.INT8);
    }

    /** Checks the attributes of {@link #toBytes}: the bounds must be bytes. */
    public static void checkBounds(Inference inference) {
        float least = inference.attrs().getFloat("quant_min_bound");
        float most = inference.attrs().getFloat("quant_max_bound");
        inference.require(least >= Byte.MIN_VALUE && least <= most && most <= Byte.MAX_VALUE,
                "quant_min_bound and quant_max_bound must be bounds from -128 to 127, but are %s and %s", least, most);
        long type = inference.attrs().getLong("quant_round_type");
        inference.require(type == 0 || type == 1,
                "quant_round_type must be 0, halves to even, or 1, halves away from 0, but is %d", type);
    }
}

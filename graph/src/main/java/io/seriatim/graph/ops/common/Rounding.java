package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;

/** Rounding to whole numbers. */
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
}

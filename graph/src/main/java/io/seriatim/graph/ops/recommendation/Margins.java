package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.computation.Binary;

/**
 * The margins of a loss of cosines: cos θ becomes cos(factor · θ + angle) − offset.
 *
 * @param factor
 *            of the angle
 * @param angle
 *            is added to it
 * @param offset
 *            is subtracted from the cosine
 */
record Margins(float factor, float angle, float offset) {
    static Margins of(Lowering l) {
        return new Margins(l.attrs().getFloat("margin1"), l.attrs().getFloat("margin2"), l.attrs().getFloat("margin3"));
    }

    /** Without a margin of the angle, numbers beyond 1 are no error. */
    private boolean turns() {
        return Math.abs(factor - 1) > 1e-8 || Math.abs(angle) > 1e-8;
    }

    double moved(double cosine) {
        return (turns() ? Math.cos(factor * Math.acos(cosine) + angle) : cosine) - offset;
    }

    /** The derivative. */
    double slope(double cosine) {
        return turns()
                ? factor * Math.sin(factor * Math.acos(cosine) + angle) / Math.sqrt(1 - cosine * cosine)
                : 1;
    }

    static Operand times(Lowering l, Operand a, Operand b) {
        return l.binary(Binary.Function.MULTIPLY, a, b);
    }
}

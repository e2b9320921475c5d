package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Term;
import org.jspecify.annotations.Nullable;

/** A step whose operands' gradients a {@link Rule} computes. */
interface Derivative {
    /** Where steps are added. */
    Lowering l();

    /** The value that an operand had. */
    Operand in(int index);

    /** Type and shape of an operand. */
    Operand like(int index);

    /** Whether an operand is there. */
    boolean has(int index);

    /** The value of a result. */
    Operand out(int index);

    /** Whether a result is at hand without computing it again. */
    boolean isGiven(int index);

    /** The gradient of a result; null for 0. */
    @Nullable
    Operand gradient(int index);

    /** Whether the gradient of an operand is wanted. */
    boolean wants(int index);

    /** Adds to the gradient of an operand: it is cast, expanded and summed to the operand's type and shape. */
    void give(int index, Operand gradient);

    /** The gradient of the only result. */
    default Operand gradient() {
        Operand gradient = gradient(0);
        if (gradient == null) {
            throw new IllegalStateException("A rule is asked for without a gradient");
        }
        return gradient;
    }

    /** A value in a formula. */
    default Term term(Operand operand) {
        return new Term(l(), operand);
    }
}

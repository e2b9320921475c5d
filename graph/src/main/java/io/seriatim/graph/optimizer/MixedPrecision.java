package io.seriatim.graph.optimizer;

import io.seriatim.graph.util.Ranges;
import io.seriatim.tensor.DType;

/**
 * Computing in 16 bits (Micikevicius et al., 2018): operations that gain from it do so, those that lose by it stay in
 * float32, and the others follow their inputs.
 *
 * @param dtype
 *            float16 or bfloat16
 * @param scale
 *            by which the loss is multiplied at first, so that small gradients do not vanish
 * @param dynamic
 *            whether the scale follows the gradients: it doubles after {@code raiseAfter} good steps and halves when
 *            one is not finite
 * @param raiseAfter
 *            good steps until a dynamic scale rises, at least 1
 */
public record MixedPrecision(DType dtype, double scale, boolean dynamic, int raiseAfter) {
    /**
     * Checks type and scale.
     *
     * @throws IllegalArgumentException
     *             if the type is not of 16 bits, the scale is not above 0, or a dynamic scale rises after less than 1
     *             step
     */
    public MixedPrecision {
        if (dtype != DType.FLOAT16 && dtype != DType.BFLOAT16) {
            throw new IllegalArgumentException("Mixed precision computes in float16 or bfloat16, but not in " + dtype);
        }
        Ranges.positive("The scale of a loss", scale);
        if (dynamic && raiseAfter < 1) {
            throw new IllegalArgumentException(
                    "The scale of a loss rises after at least 1 good step, but after " + raiseAfter);
        }
    }

    /**
     * In bfloat16, whose range is that of float32, so that nothing needs to be scaled.
     *
     * @return the precision
     */
    public static MixedPrecision bfloat16() {
        return new MixedPrecision(DType.BFLOAT16, 1, false, 0);
    }

    /**
     * In float16, with a scale that follows the gradients, 65,536 at first.
     *
     * @return the precision
     */
    public static MixedPrecision float16() {
        return new MixedPrecision(DType.FLOAT16, 65_536, true, 2_000);
    }
}

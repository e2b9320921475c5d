package io.seriatim.tensor.kernel;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.List;

/**
 * Operands of products and convolutions of 8-bit integers. The activations are signed or unsigned, the weights are
 * signed, and the result is float32: the exact sum, rounded once, to which post-ops are applied. Scales of the operands
 * are such post-ops. The result may also be int8 or uint8 if the last post-op multiplies with a factor or adds a zero
 * point, as a quantization does: it is then rounded to the nearest level of the type, halves to even. A NaN becomes any
 * level.
 */
public final class QuantizedOperands {
    /** The types of the activations. */
    public static final List<DType> TYPES = List.of(DType.INT8, DType.UINT8);

    private QuantizedOperands() {
    }

    /**
     * Whether these are types of a quantized product with a float32 result.
     *
     * @param activations
     *            the first operand
     * @param weights
     *            the second operand
     * @param result
     *            the result
     * @return false for all others
     */
    public static boolean fit(TensorSpec activations, TensorSpec weights, TensorSpec result) {
        return areLevels(activations, weights) && result.dtype() == DType.FLOAT32;
    }

    /**
     * Whether these are types of a quantized product with a float32 result, or with levels as its result.
     *
     * @param scaled
     *            whether the last post-op multiplies with a factor or adds a zero point
     * @param activations
     *            the first operand
     * @param weights
     *            the second operand
     * @param result
     *            the result
     * @return false for all others
     */
    public static boolean fit(boolean scaled, TensorSpec activations, TensorSpec weights, TensorSpec result) {
        return areLevels(activations, weights)
                && (result.dtype() == DType.FLOAT32 || (scaled && TYPES.contains(result.dtype())));
    }

    /**
     * Whether these are types of a product of levels with the sums themselves as its result, int32: as in all products
     * of whole numbers, of larger sums the last 32 bits are kept.
     *
     * @param activations
     *            the first operand
     * @param weights
     *            the second operand
     * @param result
     *            the result
     * @return false for all others
     */
    public static boolean areSummed(TensorSpec activations, TensorSpec weights, TensorSpec result) {
        return areLevels(activations, weights) && result.dtype() == DType.INT32;
    }

    private static boolean areLevels(TensorSpec activations, TensorSpec weights) {
        return TYPES.contains(activations.dtype()) && weights.dtype() == DType.INT8;
    }

    /**
     * Rounds a result to a level.
     *
     * @param dtype
     *            int8 or uint8
     * @param result
     *            the result after all post-ops
     * @return the nearest level
     */
    public static double level(DType dtype, double result) {
        int least = dtype == DType.INT8 ? Byte.MIN_VALUE : 0;
        return Math.clamp(Math.rint(result), least, least + 255);
    }
}

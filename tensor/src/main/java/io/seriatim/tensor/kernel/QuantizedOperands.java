package io.seriatim.tensor.kernel;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.List;

/**
 * Operands of products and convolutions of 8-bit integers. The activations are signed or unsigned, the weights are
 * signed, and the result is float32: the exact sum, rounded once, to which post-ops are applied. Scales of the operands
 * are such post-ops.
 */
public final class QuantizedOperands {
    /** The types of the activations. */
    public static final List<DType> TYPES = List.of(DType.INT8, DType.UINT8);

    private QuantizedOperands() {
    }

    /**
     * Whether these are types of a quantized product.
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
        return TYPES.contains(activations.dtype()) && weights.dtype() == DType.INT8
                && result.dtype() == DType.FLOAT32;
    }
}

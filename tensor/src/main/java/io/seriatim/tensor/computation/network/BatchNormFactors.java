package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * A {@link BatchNorm} with given statistics, as y = x · factor + shift for each channel: factor = scale / √(variance +
 * ε), shift = bias − mean · factor. Inputs scale, bias, mean and variance, outputs factor and shift; all are float32
 * [c].
 *
 * @param epsilon
 *            is added to the variance
 */
public record BatchNormFactors(float epsilon) implements Computation {
    private static final int INPUTS = 4;

    @Override
    public String operation() {
        return "batch_norm_factors";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, INPUTS, INPUTS);
        TensorSpec scale = in.get(0, "scale");
        in.require(scale.dtype() == DType.FLOAT32 && scale.shape().rank() == 1,
                "scale must be float32 of one dimension, but is %s", scale);
        for (int i = 1; i < INPUTS; i++) {
            TensorSpec other = in.get(i, "number " + i);
            in.require(other.dtype() == scale.dtype() && other.shape().equals(scale.shape()),
                    "input %d must be %s, but is %s", i,
                    scale.rowMajor(), other);
        }
        return new TensorSpec[]{scale.rowMajor(), scale.rowMajor()};
    }
}

package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a convolution's weights, added to a sum: for weights that are used several times. Inputs x, dy, and
 * the sum of the weights' shape; output the sum with the gradient added, which may take the place of the sum.
 *
 * @param gradient
 *            the gradient, without that of a bias
 */
public record ConvolutionAddWeights(ConvolutionGradWeights gradient) implements Computation {
    private static final int SUM = 2;

    /**
     * Checks the gradient.
     *
     * @throws IllegalArgumentException
     *             if it also gives that of a bias
     */
    public ConvolutionAddWeights {
        if (gradient.bias()) {
            throw new IllegalArgumentException(
                    "convolution_add_weights: only the gradient of the weights is added to a sum, not that of a bias");
        }
    }

    @Override
    public String operation() {
        return "convolution_add_weights";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, SUM + 1, SUM + 1);
        TensorSpec weights = gradient.infer(in.get(0, "x"), in.get(1, "dy"))[0];
        TensorSpec sum = in.get(SUM, "the sum");
        in.require(sum.shape().equals(weights.shape()) && sum.dtype() == weights.dtype(),
                "the sum must be %s, but is %s", weights, sum);
        return new TensorSpec[]{weights};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == SUM && Operands.alike(input, SUM + 1, arguments);
    }
}

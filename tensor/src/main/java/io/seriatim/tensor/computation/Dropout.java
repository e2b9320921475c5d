package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Clears elements at random (Srivastava et al., 2014). Inputs x, and a key as for {@link RandomNumbers}; outputs y and
 * a mask (uint8, 1 for an element that is kept). Kept elements are divided by 1 − probability when scaling up; with
 * probability 1 all is 0. The gradient is dx = dy · mask, scaled alike: a {@link DropoutGrad}.
 *
 * @param probability
 *            the probability of clearing an element, from 0 to 1
 * @param upscale
 *            whether kept elements are scaled up
 */
public record Dropout(float probability, boolean upscale) implements Computation {
    /**
     * Checks the probability.
     *
     * @throws IllegalArgumentException
     *             if it is not from 0 to 1
     */
    public Dropout {
        if (!(probability >= 0 && probability <= 1)) {
            throw new IllegalArgumentException("dropout: the probability must be from 0 to 1, but is " + probability);
        }
    }

    /**
     * The factor of kept elements.
     *
     * @return 1 unless scaling up
     */
    public float scale() {
        return !upscale ? 1 : probability == 1 ? 0 : 1 / (1 - probability);
    }

    @Override
    public String operation() {
        return "dropout";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        RandomNumbers.checkKey(in, in.get(1, "key"));
        return new TensorSpec[]{x.rowMajor(), x.with(DType.UINT8)};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 2, arguments);
    }
}

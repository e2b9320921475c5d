package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Layer normalisation (Ba, Kiros, Hinton, 2016) over all dimensions from an axis on: y = (x − mean) / √(variance + ε) ·
 * scale + bias. Inputs x; scale and bias of the normalised dimensions, in any shape of as many elements (each left out
 * unless given); outputs y, mean and variance (divided by the number of elements), one of each for every row: [product
 * of the dimensions before the axis]. Mean and variance are float32 where x is smaller than that.
 *
 * @param axis
 *            the first dimension that is normalised
 * @param epsilon
 *            is added to the variance
 * @param scale
 *            whether there is a scale
 * @param bias
 *            whether there is a bias
 */
public record LayerNorm(int axis, float epsilon, boolean scale, boolean bias) implements Computation {
    @Override
    public String operation() {
        return "layer_norm";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = 1 + (scale ? 1 : 0) + (bias ? 1 : 0);
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        int at = x.shape().axis(axis);
        Shape rows = x.shape().slice(0, at);
        long length = x.shape().slice(at, x.shape().rank()).size();
        for (int i = 1; i < count; i++) {
            TensorSpec parameter = in.get(i, scale && i == 1 ? "scale" : "bias");
            in.floating(parameter, "scale and bias");
            in.require(parameter.shape().size() == length,
                    "scale and bias must have %d elements, as many as are normalised, but have %s",
                    length, parameter.shape());
        }
        TensorSpec statistics = TensorSpec.of(x.dtype().arithmetic(), rows.size());
        return new TensorSpec[]{x.rowMajor(), statistics, statistics};
    }

    /** x and y. */
    @Override
    public boolean mixes(int argument) {
        return argument == 0 || argument == 1 + (scale ? 1 : 0) + (bias ? 1 : 0);
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 1 + (scale ? 1 : 0) + (bias ? 1 : 0), arguments);
    }

    /** By rows: along the outermost axis. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec x = arguments[0];
        if (x == null || x.shape().axis(axis) == 0) {
            return List.of();
        }
        int outputs = 1 + (scale ? 1 : 0) + (bias ? 1 : 0);
        int[] axes = new int[arguments.length];
        for (int i = 1; i < outputs; i++) {
            axes[i] = Split.WHOLE;
        }
        return List.of(Split.of(axes));
    }
}

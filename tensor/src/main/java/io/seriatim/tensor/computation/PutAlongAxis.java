package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * Puts one value at each index into a copy, along an axis; adding to zeros is the gradient of {@link TakeAlongAxis} and
 * of top-k. Inputs x, indices, values of the shape of the indices; output of x's shape.
 *
 * @param axis
 *            from −rank
 * @param add
 *            whether values are added; else they replace, the last of repeated ones winning
 */
public record PutAlongAxis(int axis, boolean add) implements Computation {
    @Override
    public String operation() {
        return "put_along_axis";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec x = in.get(0, "x");
        TensorSpec indices = in.get(1, "indices");
        TensorSpec values = in.get(2, "values");
        TakeAlongAxis.check(in, x, indices, axis);
        in.sameType(x, values, "x and values");
        in.require(values.shape().equals(indices.shape()), "values must have the shape of the indices");
        return new TensorSpec[]{x.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 3, arguments);
    }
}

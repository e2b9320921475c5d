package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sums of two elements along an axis, each times a weight, as when images are resized linearly: y[…, i, …] = x[…,
 * low[i], …] · u[i] + x[…, high[i], …] · v[i]. Each product is rounded to float32, then their sum. Inputs x (float32),
 * low and high [n] (int64), u and v [n] (float32); output y, x's shape with n along the axis.
 *
 * @param axis
 *            from −rank
 */
public record LinearResampling(int axis) implements Computation {
    private static final int INPUTS = 5;

    @Override
    public String operation() {
        return "resampling";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, INPUTS, INPUTS);
        TensorSpec x = in.get(0, "x");
        in.require(x.shape().rank() > 0 && x.dtype() == DType.FLOAT32,
                "x must be float32 of one dimension or more, but is %s", x);
        TensorSpec low = in.get(1, "low");
        for (int i = 1; i < INPUTS; i++) {
            TensorSpec each = in.get(i, "number " + i);
            DType type = i < 3 ? DType.INT64 : DType.FLOAT32;
            in.require(each.dtype() == type && each.shape().rank() == 1 && each.shape().equals(low.shape()),
                    "input %d must be %s %s, but is %s", i, type, low.shape(), each);
        }
        long[] dims = x.shape().dims();
        dims[x.shape().axis(axis)] = low.shape().dim(0);
        return new TensorSpec[]{TensorSpec.of(x.dtype(), dims)};
    }

    /** By the other dimensions, the outermost first. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec y = arguments[INPUTS];
        List<Split> splits = new ArrayList<>();
        if (y != null) {
            for (int i = 0; i < y.shape().rank(); i++) {
                if (i != y.shape().axis(axis) && y.shape().dim(i) > 1) {
                    splits.add(Split.of(i, Split.WHOLE, Split.WHOLE, Split.WHOLE, Split.WHOLE, i));
                }
            }
        }
        return splits;
    }
}

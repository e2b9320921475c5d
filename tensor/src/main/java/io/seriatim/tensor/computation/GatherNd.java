package io.seriatim.tensor.computation;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes slices at index tuples. Inputs x, indices (int32 or int64, [..., k], k up to x's rank); output
 * indices.shape[:-1] + x.shape[k:].
 */
public record GatherNd() implements Computation {
    @Override
    public String operation() {
        return "gather_nd";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec x = in.get(0, "x");
        TensorSpec indices = in.get(1, "indices");
        in.whole(indices, "indices");
        return new TensorSpec[]{TensorSpec.of(x.dtype(), result(in, x.shape(), indices.shape()))};
    }

    static Shape result(Operands in, Shape x, Shape indices) {
        in.require(indices.rank() > 0 && indices.dim(-1) <= x.rank(),
                "the last dimension of the indices must be up to the %d dimensions of x", x.rank());
        int depth = (int) indices.dim(-1);
        Shape places = indices.slice(0, indices.rank() - 1);
        long[] dims = Arrays.copyOf(places.dims(), places.rank() + x.rank() - depth);
        for (int i = depth; i < x.rank(); i++) {
            dims[places.rank() + i - depth] = x.dim(i);
        }
        return Shape.of(dims);
    }
}

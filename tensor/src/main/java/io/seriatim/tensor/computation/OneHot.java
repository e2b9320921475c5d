package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Ones at indices. Input indices (int32 or int64); output of their shape and one more dimension, 1 at the index and 0
 * elsewhere.
 *
 * @param depth
 *            the length of the added dimension
 * @param dtype
 *            the result's type
 */
public record OneHot(long depth, DType dtype) implements Computation {
    @Override
    public String operation() {
        return "one_hot";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec indices = in.get(0, "indices");
        in.whole(indices, "indices");
        in.require(depth > 0, "the depth must be 1 or more, but is %d", depth);
        long[] dims = Arrays.copyOf(indices.shape().dims(), indices.shape().rank() + 1);
        dims[dims.length - 1] = depth;
        return new TensorSpec[]{TensorSpec.of(dtype, dims)};
    }
}

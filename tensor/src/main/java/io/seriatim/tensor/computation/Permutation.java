package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The numbers from 0 to n − 1 in random order. Input a key as for {@link RandomNumbers}; output int64 or int32 [n].
 *
 * @param n
 *            how many
 * @param dtype
 *            the result's type
 */
public record Permutation(int n, DType dtype) implements Computation {
    @Override
    public String operation() {
        return "permutation";
    }

    @Override
    public DType keyType(@Nullable TensorSpec... arguments) {
        return dtype;
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        RandomNumbers.checkKey(in, in.get(0, "key"));
        in.require(n >= 0, "n must be 0 or more, but is %d", n);
        return new TensorSpec[]{TensorSpec.of(dtype, n)};
    }
}

package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a pooling. Inputs x, y (may be left out for averages), dy; output dx. The gradient of a maximum goes
 * to the first of the largest elements of its window.
 *
 * @param forward
 *            a {@link Pooling} or {@link AdaptivePooling}
 */
public record PoolingGrad(Computation forward) implements Computation {
    /**
     * Checks the kind.
     *
     * @throws IllegalArgumentException
     *             if it is not a pooling
     */
    public PoolingGrad {
        if (!(forward instanceof Pooling) && !(forward instanceof AdaptivePooling)) {
            throw new IllegalArgumentException(
                    "The gradient of a pooling is that of Pooling or AdaptivePooling, but not of " + forward);
        }
    }

    @Override
    public String operation() {
        return "pooling_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec x = in.get(0, "x");
        TensorSpec dy = in.get(2, "dy");
        in.sameType(x, dy, "x and dy");
        in.require(forward.infer(x)[0].shape().equals(dy.shape()), "dy must have the shape of the pooling's result");
        return new TensorSpec[]{x.rowMajor()};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return Split.imagesOrChannels(arguments.length);
    }
}

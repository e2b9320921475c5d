package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Pooling to a given size: place i of o takes the elements from ⌊i·n/o⌋ to ⌈(i+1)·n/o⌉ of n. Input x [n, c,
 * spatial...]; output y [n, c, output...].
 *
 * @param kind
 *            the reduction of a window
 * @param output
 *            the result's size in each spatial dimension
 */
public record AdaptivePooling(Pooling.Kind kind, List<Long> output) implements Computation {
    /** Copies the list. */
    public AdaptivePooling {
        output = List.copyOf(output);
    }

    @Override
    public String operation() {
        return "adaptive_pooling";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        in.images(x.shape(), output.size(), "x");
        long[] dims = x.shape().dims();
        for (int i = 0; i < output.size(); i++) {
            in.require(output.get(i) > 0 && dims[2 + i] > 0, "spatial dimensions must not be empty");
            dims[2 + i] = output.get(i);
        }
        return new TensorSpec[]{TensorSpec.of(x.dtype(), dims)};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return Split.imagesOrChannels(arguments.length);
    }
}

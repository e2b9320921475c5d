package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Softmax along an axis: y = exp(x − max x) / Σ exp(x − max x), or its logarithm. Input x; output y of its shape.
 *
 * @param axis
 *            from −rank
 * @param log
 *            whether the logarithm is wanted
 */
public record Softmax(int axis, boolean log) implements Computation {
    /** So few elements may be computed by other kernels than more, so a part of more has more. */
    public static final long FEW = 1 << 11;

    @Override
    public String operation() {
        return "softmax";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        in.require(x.shape().rank() > 0 || axis == 0 || axis == -1, "a single element has no axis %d", axis);
        if (x.shape().rank() > 0) {
            x.shape().axis(axis);
        }
        return new TensorSpec[]{x.rowMajor()};
    }

    /** Both. */
    @Override
    public boolean mixes(int argument) {
        return true;
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 1, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec x = arguments[0];
        return x == null || x.shape().rank() == 0
                ? List.of()
                : Split.elementwiseBut(x.shape().axis(axis), x.shape(), arguments).stream()
                        .map(each -> new Split(each.axes(), Math.max(each.least(),
                                Split.leastBeyond(FEW, x.shape().size(), x.shape().dim(each.axes().getFirst())))))
                        .toList();
    }
}

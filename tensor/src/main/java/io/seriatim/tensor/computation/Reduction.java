package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Combines the elements along some axes. Input x; output with those axes left out, or of length 1. No axes: all of
 * them.
 *
 * @param function
 *            how elements are combined
 * @param axes
 *            which axes, from −rank; none for all
 * @param keepDims
 *            whether reduced axes stay, with length 1
 */
public record Reduction(Function function, List<Integer> axes, boolean keepDims) implements Computation {
    /** The functions. */
    public enum Function {
        /** The sum. */
        SUM,
        /** The sum by the number of elements; of floating-point types. */
        MEAN,
        /** The largest; NaN if there is one. */
        MAX,
        /** The smallest; NaN if there is one. */
        MIN,
        /** The product. */
        PRODUCT,
        /** Whether none is 0; bool. */
        ALL,
        /** Whether not all are 0; bool. */
        ANY,
        /** The sum of the squares. */
        SUM_OF_SQUARES,
        /** The sum of the absolute values. */
        SUM_OF_MAGNITUDES,
        /** ln Σ eˣ, without overflow; of floating-point types. */
        LOG_SUM_EXP
    }

    /** Copies the list. */
    public Reduction {
        axes = List.copyOf(axes);
    }

    @Override
    public String operation() {
        return "reduction";
    }

    /**
     * Which axes are reduced.
     *
     * @param shape
     *            of x
     * @return one value a dimension
     */
    public boolean[] reduced(Shape shape) {
        boolean[] reduced = new boolean[shape.rank()];
        for (int axis : axes) {
            reduced[shape.axis(axis)] = true;
        }
        if (axes.isEmpty()) {
            Arrays.fill(reduced, true);
        }
        return reduced;
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        boolean[] reduced = reduced(x.shape());
        long[] dims = new long[x.shape().rank()];
        int rank = 0;
        for (int i = 0; i < reduced.length; i++) {
            if (!reduced[i] || keepDims) {
                dims[rank++] = reduced[i] ? 1 : x.shape().dim(i);
            }
        }
        boolean logic = function == Function.ALL || function == Function.ANY;
        return new TensorSpec[]{
                TensorSpec.of(logic ? DType.BOOL : x.dtype(), Shape.of(Arrays.copyOf(dims, rank)))};
    }

    /** Along the axes before the reduced ones: views that are not dense would be summed in another order. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec x = arguments[0];
        if (x == null) {
            return List.of();
        }
        boolean[] reduced = reduced(x.shape());
        List<Split> splits = new ArrayList<>();
        for (int axis = 0; axis < reduced.length && !reduced[axis]; axis++) {
            if (x.shape().dim(axis) > 1) {
                splits.add(Split.of(axis, axis));
            }
        }
        return splits;
    }
}

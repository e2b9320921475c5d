package io.seriatim.tensor.kernel;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Combines the elements along some axes. Input x; output with those axes left out, or of length 1. No axes: all of them. */
public record Reduction(Function function, List<Integer> axes, boolean keepDims) implements Computation {
    public enum Function {
        SUM, MEAN, MAX, MIN, PRODUCT, ALL, ANY, SUM_OF_SQUARES, SUM_OF_MAGNITUDES, LOG_SUM_EXP
    }

    public Reduction {
        axes = List.copyOf(axes);
    }

    @Override
    public String operation() {
        return "reduction";
    }

    /** Which axes are reduced. */
    public boolean[] reduced(Shape shape) {
        boolean[] reduced = new boolean[shape.rank()];
        for (int axis : axes) {
            reduced[shape.axis(axis)] = true;
        }
        if (axes.isEmpty()) {
            java.util.Arrays.fill(reduced, true);
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
        return new TensorSpec[]{TensorSpec.of(logic ? DType.BOOL : x.dtype(), Shape.of(java.util.Arrays.copyOf(dims, rank)))};
    }
}

package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One step of an optimizer on some rows of the parameter and its accumulators; the other rows are not touched. Inputs
 * as of the step, but that the gradient is [n, ...], and then the rows (int64, [n]), in any order: gradients of a row
 * that occurs several times are added up first. It is never skipped. There are no outputs.
 *
 * @param step
 *            the step; not one that looks at the whole parameter, as Lamb does
 */
public record RowUpdate(Update step) implements Computation {
    /** Checks the step. */
    public RowUpdate {
        if (step instanceof Update.Lamb) {
            throw new IllegalArgumentException(
                    "Lamb looks at the norm of the whole parameter: it has no step on some rows");
        }
    }

    @Override
    public String operation() {
        return step.operation() + "_rows";
    }

    @Override
    public boolean mutates(int input) {
        return step.mutates(input);
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = step.skip() + 1;
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec p = in.get(0, "param");
        TensorSpec g = in.get(1, "grad");
        TensorSpec rows = in.get(count - 1, "rows");
        in.require(rows.dtype() == DType.INT64 && rows.shape().rank() == 1,
                "the rows must be int64 of one dimension, but are %s", rows);
        in.require(p.shape().rank() > 0 && g.shape().equals(p.shape().with(0, rows.shape().size())) && g.isRowMajor(),
                "the gradient must have %s rows like the parameter's %s, but has the shape %s", rows.shape().size(),
                p.shape(), g.shape());
        @Nullable
        TensorSpec[] whole = Arrays.copyOf(inputs, count - 1);
        whole[1] = TensorSpec.of(g.dtype(), p.shape());
        return step.infer(whole);
    }
}

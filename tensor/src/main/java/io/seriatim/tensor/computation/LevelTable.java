package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A function of 8-bit levels, as a table of its values. Inputs x (int8 or uint8), table (int8 or uint8, [256], in
 * row-major order: the values for the levels in increasing order); output: for each level its value, of the shape of x.
 */
public record LevelTable() implements Computation {
    /** How many levels there are. */
    public static final int LEVELS = 256;

    @Override
    public String operation() {
        return "level_table";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec x = in.get(0, "x");
        TensorSpec table = in.get(1, "table");
        in.require(isLevel(x.dtype()) && isLevel(table.dtype()), "x and table must be int8 or uint8, but are %s and %s",
                x.dtype(), table.dtype());
        in.require(table.shape().rank() == 1 && table.shape().size() == LEVELS && table.isRowMajor(),
                "table must be [%d] and row-major, but is %s", LEVELS, table);
        return new TensorSpec[]{TensorSpec.of(table.dtype(), x.shape())};
    }

    private static boolean isLevel(DType dtype) {
        return dtype == DType.INT8 || dtype == DType.UINT8;
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments[0], null, out);
    }
}

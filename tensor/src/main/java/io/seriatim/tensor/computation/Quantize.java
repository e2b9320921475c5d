package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rounds float32 numbers to int8 levels. Inputs x, factor (one element); output int8 of the shape of x: x · factor,
 * rounded, between −most (−most − 1 if halves are rounded to even) and most. A NaN becomes any level.
 *
 * @param most
 *            the largest level, from 1 to 127
 * @param away
 *            whether halves are rounded away from 0, otherwise to even
 */
public record Quantize(int most, boolean away) implements Computation {
    /** The largest int8. */
    public static final int LARGEST = 127;

    /** Checks the largest level. */
    public Quantize {
        if (most < 1 || most > LARGEST) {
            throw new IllegalArgumentException("The largest int8 level is from 1 to 127, but is " + most);
        }
    }

    @Override
    public String operation() {
        return "quantize";
    }

    /**
     * The smallest level.
     *
     * @return −most, or −most − 1 if halves are rounded to even
     */
    public int least() {
        return away ? -most : -most - 1;
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec x = in.get(0, "x");
        TensorSpec factor = in.get(1, "factor");
        in.require(x.dtype() == DType.FLOAT32 && factor.dtype() == DType.FLOAT32,
                "x and factor must be float32, but are %s and %s", x.dtype(), factor.dtype());
        in.require(factor.shape().size() == 1, "factor must be one number, but is %s", factor.shape());
        return new TensorSpec[]{TensorSpec.of(DType.INT8, x.shape())};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}

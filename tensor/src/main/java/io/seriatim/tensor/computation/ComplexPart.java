package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A real number of each complex one. Input x, complex; output of its shape, float32 for complex64, float64 for
 * complex128.
 *
 * @param function
 *            which number
 */
public record ComplexPart(Function function) implements Computation {
    /** The functions. */
    public enum Function {
        /** The real part. */
        REAL,
        /** The imaginary part. */
        IMAGINARY,
        /** The absolute value, without overflow of its square. */
        MAGNITUDE,
        /** The angle to the positive real axis, from −π to π; that of 0 is 0. */
        ANGLE
    }

    @Override
    public String operation() {
        return "complex_part";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.require(x.dtype().isComplex(), "x must be complex, but is %s", x.dtype());
        return new TensorSpec[]{x.with(x.dtype().real())};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}

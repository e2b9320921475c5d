package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Complex numbers of their parts. Inputs: the real and the imaginary parts, both float32 or both float64, which
 * broadcast; output complex64 or complex128 of the broadcast shape.
 */
public record ComplexNumber() implements Computation {
    @Override
    public String operation() {
        return "complex_number";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec real = in.get(0, "the real part");
        TensorSpec imaginary = in.get(1, "the imaginary part");
        in.sameType(real, imaginary, "the real and the imaginary part");
        in.require(real.dtype() == DType.FLOAT32 || real.dtype() == DType.FLOAT64,
                "the parts must be float32 or float64, but are %s", real.dtype());
        return new TensorSpec[]{
                TensorSpec.of(real.dtype() == DType.FLOAT32 ? DType.COMPLEX64 : DType.COMPLEX128,
                        real.shape().broadcast(imaginary.shape()))};
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}

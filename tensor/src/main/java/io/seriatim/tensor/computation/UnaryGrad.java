package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a function of each element. Inputs x, y = f(x) (either may be left out if the function does not need
 * it), dy; output dx = dy · f'(x).
 *
 * @param function
 *            the function
 * @param alpha
 *            its first parameter
 * @param beta
 *            its second parameter
 */
public record UnaryGrad(Unary.Function function, float alpha, float beta) implements Computation {
    /**
     * The gradient of a function with its parameters.
     *
     * @param unary
     *            the function
     * @return its gradient
     */
    public static UnaryGrad of(Unary unary) {
        return new UnaryGrad(unary.function(), unary.alpha(), unary.beta());
    }

    /**
     * Whether every kernel that comes with this module gives the same to the bit.
     *
     * @param dtype
     *            the type of dy
     * @return whether they do, where x and dy are numbers; of the gradient where x is not a number the kernels think
     * differently
     */
    public boolean isExact(DType dtype) {
        return switch (function) {
            case ELU, SIGMOID, TANH, GELU_ERF, GELU_TANH, SWISH, HARD_SWISH, MISH, EXP, LOG, SQRT, SQUARE ->
                dtype.arithmetic() != DType.FLOAT32;
            case RELU, LEAKY_RELU, CLIP, HARD_SIGMOID, ABS, LINEAR -> dtype != DType.BFLOAT16 && dtype != DType.FLOAT16;
            default -> true;
        };
    }

    @Override
    public String operation() {
        return "unary_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec dy = in.get(2, "dy");
        in.differentiable(dy, "dy");
        for (int i = 0; i < 2; i++) {
            TensorSpec other = in.optional(i);
            in.require(other == null || (other.shape().equals(dy.shape()) && other.dtype() == dy.dtype()),
                    "x, y and dy must have one type and shape");
        }
        return new TensorSpec[]{dy.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 2 && Operands.alike(input, 3, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[3];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}

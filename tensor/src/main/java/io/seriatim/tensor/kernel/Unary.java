package io.seriatim.tensor.kernel;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import org.jspecify.annotations.Nullable;

/** A function of each element. Input x; output of x's shape, of x's type, or bool for the tests. */
public record Unary(Function function, float alpha, float beta) implements Computation {
    public enum Function {
        RELU, LEAKY_RELU, ELU, CLIP, SIGMOID, TANH, GELU_ERF, GELU_TANH, SWISH, HARD_SIGMOID, HARD_SWISH, SOFTPLUS, MISH, EXP, LOG, SQRT, RSQRT, SQUARE, ABS, RECIPROCAL, POW, LINEAR, NEGATE, SIN, COS, FLOOR, CEIL, ROUND, SIGN, ERF, LOGICAL_NOT, IS_NAN, IS_INF, IS_FINITE;

        boolean isTest() {
            return ordinal() >= LOGICAL_NOT.ordinal();
        }
    }

    public static Unary of(Function function) {
        return new Unary(function, 0, 0);
    }

    @Override
    public String operation() {
        return "unary";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        return new TensorSpec[]{x.with(function.isTest() ? DType.BOOL : x.dtype())};
    }
}

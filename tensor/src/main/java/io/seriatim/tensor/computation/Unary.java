package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A function of each element. Input x; output of x's shape, of x's type, or bool for the tests.
 *
 * @param function
 *            the function
 * @param alpha
 *            its first parameter
 * @param beta
 *            its second parameter
 */
public record Unary(Function function, float alpha, float beta) implements Computation {
    /** The functions. */
    public enum Function {
        /** max(x, 0). */
        RELU,
        /** x, or alpha·x below 0. */
        LEAKY_RELU,
        /** x, or alpha·(eˣ − 1) below 0. */
        ELU,
        /** x, at least alpha and at most beta. */
        CLIP,
        /** 1 / (1 + e⁻ˣ). */
        SIGMOID,
        /** tanh x. */
        TANH,
        /** x/2 · (1 + erf(x/√2)). */
        GELU_ERF,
        /** x/2 · (1 + tanh(√(2/π) · (x + 0.044715x³))). */
        GELU_TANH,
        /** x / (1 + exp(−alpha·x)). */
        SWISH,
        /** alpha·x + beta, at least 0 and at most 1. */
        HARD_SIGMOID,
        /** x/6 · (x + 3, at least 0 and at most 6). */
        HARD_SWISH,
        /** ln(1 + exp(alpha·x)) / alpha, or x where alpha·x is above beta. */
        SOFTPLUS,
        /** x · tanh(ln(1 + eˣ)). */
        MISH,
        /** eˣ. */
        EXP,
        /** ln x. */
        LOG,
        /** √x. */
        SQRT,
        /** 1/√x. */
        RSQRT,
        /** x². */
        SQUARE,
        /** |x|. */
        ABS,
        /** 1/x. */
        RECIPROCAL,
        /** x to the power of alpha. */
        POW,
        /** alpha·x + beta. */
        LINEAR,
        /** −x. */
        NEGATE,
        /** sin x. */
        SIN,
        /** cos x. */
        COS,
        /** The largest whole number up to x. */
        FLOOR,
        /** The smallest whole number from x. */
        CEIL,
        /** The nearest whole number, the even one of two. */
        ROUND,
        /** −1, 0 or 1. */
        SIGN,
        /** 2/√π ∫₀ˣ exp(−t²) dt. */
        ERF,
        /** Whether x is 0; bool. */
        LOGICAL_NOT,
        /** Whether x is not a number; bool. */
        IS_NAN,
        /** Whether x is infinite; bool. */
        IS_INF,
        /** Whether x is neither infinite nor NaN; bool. */
        IS_FINITE;

        /**
         * Whether the function is a test, whose results are of the type bool.
         *
         * @return whether it is
         */
        public boolean isTest() {
            return switch (this) {
                case LOGICAL_NOT, IS_NAN, IS_INF, IS_FINITE -> true;
                default -> false;
            };
        }
    }

    /**
     * Without parameters.
     *
     * @param function
     *            the function
     * @return the computation
     */
    public static Unary of(Function function) {
        return new Unary(function, 0, 0);
    }

    /**
     * Whether every kernel that comes with this module gives the same to the bit, so that it does not matter for the
     * result which one computes. Where this is not so, the library rounds otherwise in the last digits.
     *
     * @param dtype
     *            the type of x
     * @return whether they do, for all numbers; only the payload of a NaN may differ, and the sign of a 0 that
     * {@link Function#LINEAR} underflows to
     */
    public boolean isExact(DType dtype) {
        boolean alone = dtype.arithmetic() != DType.FLOAT32;
        return switch (function) {
            case ELU, SIGMOID, TANH, GELU_ERF, GELU_TANH, SWISH, HARD_SWISH, MISH, EXP, LOG -> alone;
            // The library rounds product and sum at once.
            case LINEAR -> alone || (dtype == DType.FLOAT32 && (beta == 0 || Math.abs(alpha) == 1));
            // The library gives zeros another sign where the factor is not positive.
            case LEAKY_RELU -> alone || (dtype == DType.FLOAT32 && alpha > 0);
            // In 16 bits the library flushes the smallest results to 0.
            case RELU, CLIP, HARD_SIGMOID, SQRT, SQUARE, ABS, ROUND -> alone || dtype == DType.FLOAT32;
            default -> true;
        };
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

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 1, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[arguments.length - 1];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}

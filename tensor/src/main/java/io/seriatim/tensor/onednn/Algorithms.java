package io.seriatim.tensor.onednn;

import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import org.jspecify.annotations.Nullable;

/**
 * The library's numbers for functions. Functions for which it gives other signs of zeros or other NaNs than the
 * portable kernels are left out, and so are parameters that it refuses.
 */
final class Algorithms {
    private Algorithms() {
    }

    /** A function with the library's parameters. */
    record Eltwise(int algorithm, float alpha, float beta) {
    }

    /** For which values the library gives the results of the portable kernels; found by comparing the two. */
    enum Trust {
        /** Neither NaN nor infinity. */
        ORDINARY_NUMBERS,
        /** All. */
        ALL_NUMBERS
    }

    static Trust trust(Unary.Function function) {
        return switch (function) {
            case RELU, CLIP, HARD_SIGMOID, EXP, GELU_ERF -> Trust.ORDINARY_NUMBERS;
            default -> Trust.ALL_NUMBERS;
        };
    }

    /**
     * The gradient of a function, computed from the function's result, where the result determines it. Null for a
     * maximum with 0: the library gives 0 for an infinite gradient where the result is 0, which would hide the
     * infinity.
     */
    static @Nullable Eltwise ofResult(Unary.Function function, float alpha) {
        return switch (function) {
            case TANH -> new Eltwise(0x101, 0, 0);
            case ELU -> alpha >= 0 ? new Eltwise(0x102, alpha, 0) : null;
            case SQRT -> new Eltwise(0x103, 0, 0);
            case SIGMOID -> new Eltwise(0x104, 0, 0);
            case EXP -> new Eltwise(0x105, 0, 0);
            default -> null;
        };
    }

    /** The gradient of a function, computed from the function's input. */
    static @Nullable Eltwise ofInput(Unary.Function function, float alpha, float beta) {
        return function == Unary.Function.LOG ? new Eltwise(45, 0, 0) : eltwise(function, alpha, beta);
    }

    /**
     * A function as a post-op. Null for the exponential: the library's error exceeds 4 units in the last place for
     * large arguments, and the arguments of a post-op cannot be checked before.
     */
    static @Nullable Eltwise postOp(Unary.Function function, float alpha, float beta) {
        return function == Unary.Function.EXP ? null : eltwise(function, alpha, beta);
    }

    /**
     * A function as a kernel. Null for the logarithm: the library's error is 4e-6, near 1 more than a thousandth of the
     * result.
     */
    static @Nullable Eltwise eltwise(Unary.Function function, float alpha, float beta) {
        return switch (function) {
            case RELU -> new Eltwise(32, 0, 0);
            case LEAKY_RELU -> new Eltwise(32, alpha, 0);
            case TANH -> new Eltwise(33, 0, 0);
            case ELU -> new Eltwise(34, alpha, 0);
            case SQUARE -> new Eltwise(35, 0, 0);
            case ABS -> new Eltwise(36, 0, 0);
            case SQRT -> new Eltwise(37, 0, 0);
            case LINEAR -> new Eltwise(38, alpha, beta);
            case HARD_SIGMOID -> new Eltwise(40, alpha, beta);
            case SIGMOID -> new Eltwise(41, 0, 0);
            case EXP -> new Eltwise(42, 0, 0);
            case GELU_TANH -> new Eltwise(43, 0, 0);
            case SWISH -> new Eltwise(44, alpha, 0);
            case CLIP -> beta >= alpha ? new Eltwise(47, alpha, beta) : null;
            case GELU_ERF -> new Eltwise(49, 0, 0);
            case ROUND -> new Eltwise(50, 0, 0);
            case MISH -> new Eltwise(51, 0, 0);
            case HARD_SWISH -> new Eltwise(52, 1f / 6, 0.5f);
            default -> null;
        };
    }

    /** alpha · x + beta. */
    static Eltwise linear(float alpha, float beta) {
        return new Eltwise(38, alpha, beta);
    }

    /** x to the power of an exponent. */
    static Eltwise power(float exponent) {
        return new Eltwise(48, 1, exponent);
    }

    /** The library's number; 0 if it has no such function. */
    static int binary(Binary.Function function) {
        return switch (function) {
            case ADD -> 0x1fff0;
            case MULTIPLY -> 0x1fff1;
            case DIVIDE -> 0x1fff4;
            case SUBTRACT -> 0x1fff5;
            default -> 0;
        };
    }

    /** The library's number; 0 if it has no such function. */
    static int reduction(Reduction.Function function) {
        return switch (function) {
            case MAX -> 196594;
            case MIN -> 196595;
            case SUM -> 196596;
            case PRODUCT -> 196597;
            case MEAN -> 196598;
            default -> 0;
        };
    }
}

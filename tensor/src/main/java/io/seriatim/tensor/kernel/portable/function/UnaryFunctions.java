package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.numerics.Power;

/** The functions of one element, in double, and their derivatives. */
public final class UnaryFunctions {
    private static final double GELU_FACTOR = Math.sqrt(2 / Math.PI);
    private static final double GELU_CUBE = 0.044715;
    private static final double SQRT_HALF = Math.sqrt(0.5);

    private UnaryFunctions() {
    }

    public static double apply(Unary.Function function, double x, double alpha, double beta) {
        return switch (function) {
            case RELU -> x < 0 ? 0 : x;
            case LEAKY_RELU -> x < 0 ? alpha * x : x;
            case ELU -> x < 0 ? alpha * Math.expm1(x) : x;
            case CLIP -> x < alpha ? alpha : x > beta ? beta : x;
            case SIGMOID -> sigmoid(x);
            case TANH -> Math.tanh(x);
            case GELU_ERF -> 0.5 * x * (1 + ErrorFunction.erf(x * SQRT_HALF));
            case GELU_TANH -> 0.5 * x * (1 + Math.tanh(GELU_FACTOR * (x + GELU_CUBE * x * x * x)));
            case SWISH -> x * sigmoid(alpha * x);
            case HARD_SIGMOID -> clip(alpha * x + beta, 0, 1);
            case HARD_SWISH -> x * clip(x + 3, 0, 6) / 6;
            case SOFTPLUS -> alpha * x > beta ? x : softplus(alpha * x) / alpha;
            case MISH -> x * Math.tanh(softplus(x));
            case EXP -> Math.exp(x);
            case LOG -> Math.log(x);
            case SQRT -> Math.sqrt(x);
            case RSQRT -> 1 / Math.sqrt(x);
            case SQUARE -> x * x;
            case ABS -> Math.abs(x);
            case RECIPROCAL -> 1 / x;
            case POW -> Power.of(x, alpha);
            case LINEAR -> alpha * x + beta;
            case NEGATE -> -x;
            case SIN -> Math.sin(x);
            case COS -> Math.cos(x);
            case FLOOR -> Math.floor(x);
            case CEIL -> Math.ceil(x);
            case ROUND -> Math.rint(x);
            case SIGN -> Math.signum(x);
            case ERF -> ErrorFunction.erf(x);
            case LOGICAL_NOT -> x == 0 ? 1 : 0;
            case IS_NAN -> Double.isNaN(x) ? 1 : 0;
            case IS_INF -> Double.isInfinite(x) ? 1 : 0;
            case IS_FINITE -> Double.isFinite(x) ? 1 : 0;
        };
    }

    /** The derivative at x. */
    public static double derivative(Unary.Function function, double x, double alpha, double beta) {
        return switch (function) {
            case RELU -> x > 0 ? 1 : 0;
            case LEAKY_RELU -> x > 0 ? 1 : alpha;
            case ELU -> x > 0 ? 1 : alpha * Math.exp(x);
            case CLIP -> x > alpha && x < beta ? 1 : 0;
            case SIGMOID -> {
                double s = sigmoid(x);
                yield s * (1 - s);
            }
            case TANH -> {
                double t = Math.tanh(x);
                yield 1 - t * t;
            }
            case GELU_ERF ->
                0.5 * (1 + ErrorFunction.erf(x * SQRT_HALF)) + x * Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
            case GELU_TANH -> {
                double t = Math.tanh(GELU_FACTOR * (x + GELU_CUBE * x * x * x));
                yield 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * GELU_FACTOR * (1 + 3 * GELU_CUBE * x * x);
            }
            case SWISH -> {
                double s = sigmoid(alpha * x);
                yield s + alpha * x * s * (1 - s);
            }
            case HARD_SIGMOID -> alpha * x + beta > 0 && alpha * x + beta < 1 ? alpha : 0;
            case HARD_SWISH -> x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6;
            case SOFTPLUS -> alpha * x > beta ? 1 : sigmoid(alpha * x);
            case MISH -> {
                double t = Math.tanh(softplus(x));
                yield t + x * (1 - t * t) * sigmoid(x);
            }
            case EXP -> Math.exp(x);
            case LOG -> 1 / x;
            case SQRT -> 0.5 / Math.sqrt(x);
            case RSQRT -> -0.5 / (x * Math.sqrt(x));
            case SQUARE -> 2 * x;
            case ABS -> Math.signum(x);
            case RECIPROCAL -> -1 / (x * x);
            case POW -> alpha == 0 ? 0 : alpha * Power.of(x, alpha - 1);
            case LINEAR -> alpha;
            case NEGATE -> -1;
            case SIN -> Math.cos(x);
            case COS -> -Math.sin(x);
            case ERF -> 2 / Math.sqrt(Math.PI) * Math.exp(-x * x);
            case FLOOR, CEIL, ROUND, SIGN -> 0;
            case LOGICAL_NOT, IS_NAN, IS_INF, IS_FINITE ->
                throw new IllegalArgumentException(function + " has no gradient");
        };
    }

    /** The derivative as a function of the function's value y, where y determines it. */
    public static double derivativeOfResult(Unary.Function function, double y, double alpha) {
        return switch (function) {
            case RELU -> y > 0 ? 1 : 0;
            case LEAKY_RELU -> y > 0 ? 1 : alpha;
            case ELU -> y > 0 ? 1 : y + alpha;
            case SIGMOID -> y * (1 - y);
            case TANH -> 1 - y * y;
            case EXP -> y;
            case SQRT -> 0.5 / y;
            case RSQRT -> -0.5 * y * y * y;
            case RECIPROCAL -> -y * y;
            default -> constant(function, alpha);
        };
    }

    /** The derivative of functions whose derivative is constant. */
    public static double constant(Unary.Function function, double alpha) {
        return switch (function) {
            case LINEAR -> alpha;
            case NEGATE -> -1;
            case FLOOR, CEIL, ROUND, SIGN -> 0;
            default ->
                throw new IllegalArgumentException("unary_grad: the gradient of " + function + " needs the input x");
        };
    }

    private static double clip(double x, double least, double most) {
        return x < least ? least : x > most ? most : x;
    }

    public static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    /** ln(1 + eˣ) without overflow. */
    private static double softplus(double x) {
        return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
    }
}

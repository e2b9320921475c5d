package io.seriatim.tensor.kernel;

import io.seriatim.tensor.computation.Unary;

/**
 * What the functions of elements and their derivatives are, in double, from Java's functions (within 2 units in the
 * last place of a double) and in forms that do not cancel: good to about 1e-13 of the result. Written apart from the
 * kernels, which are compared with it.
 */
final class ExactFunctions {
    private static final double GELU = 2 * Math.sqrt(2 / Math.PI);
    private static final double CUBE = 0.044715;
    private static final double ROOT_HALF = Math.sqrt(0.5);

    private ExactFunctions() {
    }

    static double apply(Unary unary, double x) {
        double a = unary.alpha();
        double b = unary.beta();
        return switch (unary.function()) {
            case RELU -> x < 0 ? 0 : x;
            case LEAKY_RELU -> x < 0 ? a * x : x;
            case ELU -> x < 0 ? a * Math.expm1(x) : x;
            case CLIP -> x < a ? a : x > b ? b : x;
            case SIGMOID -> sigmoid(x);
            case TANH -> Math.tanh(x);
            case GELU_ERF -> x == Double.NEGATIVE_INFINITY ? Double.NaN : 0.5 * x * erfcOfNegative(x * ROOT_HALF);
            case GELU_TANH -> x * sigmoid(GELU * (x + CUBE * x * x * x));
            case SWISH -> x * sigmoid(a * x);
            case HARD_SIGMOID -> clip(a * x + b, 0, 1);
            case HARD_SWISH -> x * clip(x + 3, 0, 6) / 6;
            case SOFTPLUS -> a * x > b ? x : softplus(a * x) / a;
            case MISH -> x * tanhOfSoftplus(x);
            case EXP -> Math.exp(x);
            case LOG -> Math.log(x);
            case SQRT -> Math.sqrt(x);
            case RSQRT -> 1 / Math.sqrt(x);
            case SQUARE -> x * x;
            case ABS -> Math.abs(x);
            case RECIPROCAL -> 1 / x;
            case POW -> Math.pow(x, a);
            case LINEAR -> a * x + b;
            case NEGATE -> -x;
            case SIN -> Math.sin(x);
            case COS -> Math.cos(x);
            case FLOOR -> Math.floor(x);
            case CEIL -> Math.ceil(x);
            case ROUND -> Math.rint(x);
            case SIGN -> Math.signum(x);
            case ERF -> Math.abs(x) < 0.5 ? series(x) : Math.signum(x) * (1 - erfc(Math.abs(x)));
            case LOGICAL_NOT -> x == 0 ? 1 : 0;
            case IS_NAN -> Double.isNaN(x) ? 1 : 0;
            case IS_INF -> Double.isInfinite(x) ? 1 : 0;
            case IS_FINITE -> Double.isFinite(x) ? 1 : 0;
        };
    }

    static double derivative(Unary unary, double x) {
        double a = unary.alpha();
        double b = unary.beta();
        return switch (unary.function()) {
            case RELU -> x > 0 ? 1 : 0;
            case LEAKY_RELU -> x > 0 ? 1 : a;
            case ELU -> x > 0 ? 1 : a * Math.exp(x);
            case CLIP -> x > a && x < b ? 1 : 0;
            case SIGMOID -> sigmoid(x) * sigmoid(-x);
            case TANH -> 4 * sigmoid(2 * x) * sigmoid(-2 * x);
            case GELU_ERF -> 0.5 * erfcOfNegative(x * ROOT_HALF) + x * Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
            case GELU_TANH -> {
                double u = GELU * (x + CUBE * x * x * x);
                yield sigmoid(u) + x * sigmoid(u) * sigmoid(-u) * GELU * (1 + 3 * CUBE * x * x);
            }
            case SWISH -> sigmoid(a * x) * (1 + a * x * sigmoid(-a * x));
            case HARD_SIGMOID -> a * x + b > 0 && a * x + b < 1 ? a : 0;
            case HARD_SWISH -> x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6;
            case SOFTPLUS -> a * x > b ? 1 : sigmoid(a * x);
            case MISH -> {
                double t = tanhOfSoftplus(x);
                yield t + x * (1 - t) * (1 + t) * sigmoid(x);
            }
            case EXP -> Math.exp(x);
            case LOG -> 1 / x;
            case SQRT -> 0.5 / Math.sqrt(x);
            case RSQRT -> -0.5 / (x * Math.sqrt(x));
            case SQUARE -> 2 * x;
            case ABS, SIGN, FLOOR, CEIL, ROUND -> unary.function() == Unary.Function.ABS ? Math.signum(x) : 0;
            case RECIPROCAL -> -1 / (x * x);
            case POW -> a * Math.pow(x, a - 1);
            case LINEAR -> a;
            case NEGATE -> -1;
            case SIN -> Math.cos(x);
            case COS -> -Math.sin(x);
            case ERF -> 2 / Math.sqrt(Math.PI) * Math.exp(-x * x);
            case LOGICAL_NOT, IS_NAN, IS_INF, IS_FINITE ->
                throw new IllegalArgumentException(unary + " has no derivative");
        };
    }

    private static double clip(double x, double least, double most) {
        return Math.min(most, Math.max(least, x));
    }

    static double sigmoid(double x) {
        return x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x));
    }

    private static double softplus(double x) {
        return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
    }

    /** With e = eˣ: e(e + 2) / (e(e + 2) + 2). */
    private static double tanhOfSoftplus(double x) {
        if (x > 0) {
            double e = Math.exp(-x);
            return (1 + 2 * e) / (1 + 2 * e + 2 * e * e);
        }
        double e = Math.exp(x);
        return e * (e + 2) / (e * (e + 2) + 2);
    }

    /** 1 + erf(x) = erfc(−x). */
    private static double erfcOfNegative(double x) {
        return x < 0 ? erfc(-x) : 2 - erfc(x);
    }

    /** The Maclaurin series of erf. */
    private static double series(double x) {
        double term = x;
        double sum = x;
        for (int n = 1; Math.abs(term) > 1e-19 * Math.abs(sum); n++) {
            term *= -x * x / n;
            sum += term / (2 * n + 1);
        }
        return 2 / Math.sqrt(Math.PI) * sum;
    }

    /**
     * For x from 0: from 0.5 the continued fraction (Abramowitz and Stegun, 7.1.14), whose 400 terms give 12 digits
     * there and more beyond.
     */
    private static double erfc(double x) {
        if (x < 0.5) {
            return 1 - series(x);
        }
        if (x > 27.3) {
            return 0;
        }
        double fraction = x;
        for (int n = x < 2 ? 400 : 80; n > 0; n--) {
            fraction = x + n * 0.5 / fraction;
        }
        return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
    }
}

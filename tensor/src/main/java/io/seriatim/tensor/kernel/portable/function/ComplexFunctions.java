package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import org.jspecify.annotations.Nullable;

/** Functions of one complex number. */
public final class ComplexFunctions {
    private ComplexFunctions() {
    }

    /** Writes real and imaginary part of the result into the first two elements. */
    @FunctionalInterface
    public interface Function {
        void apply(double re, double im, double[] result);
    }

    /** The function, or null if there is none of complex numbers. */
    public static @Nullable Function of(Unary unary) {
        return switch (unary.function()) {
            case NEGATE -> (re, im, to) -> set(to, -re, -im);
            case LINEAR -> (re, im, to) -> set(to, unary.alpha() * re + unary.beta(), unary.alpha() * im);
            case SQUARE -> (re, im, to) -> set(to, re * re - im * im, 2 * re * im);
            case RECIPROCAL -> (re, im, to) -> reciprocal(re, im, to);
            case EXP -> ComplexFunctions::exp;
            case LOG -> (re, im, to) -> set(to, Math.log(Math.hypot(re, im)), Math.atan2(im, re));
            case SQRT -> ComplexFunctions::sqrt;
            case SIN -> (re, im, to) -> set(to, Math.sin(re) * Math.cosh(im), Math.cos(re) * Math.sinh(im));
            case COS -> (re, im, to) -> set(to, Math.cos(re) * Math.cosh(im), -Math.sin(re) * Math.sinh(im));
            case TANH -> ComplexFunctions::tanh;
            case SIGMOID -> (re, im, to) -> {
                // (1 + tanh(x/2)) / 2
                tanh(re / 2, im / 2, to);
                set(to, 0.5 + to[0] / 2, to[1] / 2);
            };
            case SWISH -> (re, im, to) -> {
                tanh(unary.alpha() * re / 2, unary.alpha() * im / 2, to);
                times(to, 0.5 + to[0] / 2, to[1] / 2, re, im);
            };
            case IS_NAN -> (re, im, to) -> set(to, Double.isNaN(re) || Double.isNaN(im) ? 1 : 0, 0);
            case IS_INF -> (re, im, to) -> set(to, Double.isInfinite(re) || Double.isInfinite(im) ? 1 : 0, 0);
            case IS_FINITE -> (re, im, to) -> set(to, Double.isFinite(re) && Double.isFinite(im) ? 1 : 0, 0);
            case LOGICAL_NOT -> (re, im, to) -> set(to, re == 0 && im == 0 ? 1 : 0, 0);
            default -> null;
        };
    }

    /**
     * The slope of a function, or null if there is none of complex numbers.
     *
     * @param atResult
     *            whether the slope is given the function's result instead of its argument
     */
    public static @Nullable Function slope(UnaryGrad grad, boolean atResult) {
        return switch (grad.function()) {
            case NEGATE -> (_, _, to) -> set(to, -1, 0);
            case LINEAR -> (_, _, to) -> set(to, grad.alpha(), 0);
            case SQUARE -> atResult ? null : (re, im, to) -> set(to, 2 * re, 2 * im);
            case LOG -> atResult ? null : ComplexFunctions::reciprocal;
            case SQRT -> atResult ? (re, im, to) -> reciprocal(2 * re, 2 * im, to) : null;
            case RECIPROCAL -> atResult ? (re, im, to) -> set(to, im * im - re * re, -2 * re * im) : null;
            case EXP -> atResult ? (re, im, to) -> set(to, re, im) : ComplexFunctions::exp;
            case SIN -> atResult ? null : of(Unary.of(Unary.Function.COS));
            case COS -> atResult
                    ? null
                    : (re, im, to) -> set(to, -Math.sin(re) * Math.cosh(im), -Math.cos(re) * Math.sinh(im));
            case TANH -> atResult ? (re, im, to) -> set(to, 1 - re * re + im * im, -2 * re * im) : null;
            case SIGMOID -> atResult ? (re, im, to) -> times(to, re, im, 1 - re, -im) : null;
            case SWISH -> atResult ? null : (re, im, to) -> swishSlope(re, im, grad.alpha(), to);
            default -> null;
        };
    }

    /** s · (1 + αx · (1 − s)), where s is the sigmoid of αx. */
    private static void swishSlope(double re, double im, double alpha, double[] to) {
        tanh(alpha * re / 2, alpha * im / 2, to);
        double s = 0.5 + to[0] / 2;
        double t = to[1] / 2;
        times(to, alpha * re, alpha * im, 1 - s, -t);
        times(to, 1 + to[0], to[1], s, t);
    }

    private static void times(double[] to, double a, double b, double c, double d) {
        set(to, a * c - b * d, a * d + b * c);
    }

    private static void set(double[] to, double re, double im) {
        to[0] = re;
        to[1] = im;
    }

    private static void reciprocal(double re, double im, double[] to) {
        double norm = re * re + im * im;
        set(to, re / norm, -im / norm);
    }

    private static void exp(double re, double im, double[] to) {
        double size = Math.exp(re);
        set(to, size * Math.cos(im), im == 0 ? im : size * Math.sin(im));
    }

    private static void sqrt(double re, double im, double[] to) {
        double size = Math.hypot(re, im);
        double root = Math.sqrt((size + Math.abs(re)) / 2);
        if (root == 0) {
            set(to, 0, im);
        } else if (re >= 0) {
            set(to, root, im / (2 * root));
        } else {
            set(to, Math.abs(im) / (2 * root), Math.copySign(root, im));
        }
    }

    /** (sinh 2a + i sin 2b) / (cosh 2a + cos 2b), and ±1 where the hyperbolic functions overflow. */
    private static void tanh(double re, double im, double[] to) {
        if (Math.abs(re) > 20) {
            set(to, Math.signum(re), 4 * Math.sin(im) * Math.cos(im) * Math.exp(-2 * Math.abs(re)));
            return;
        }
        double below = Math.cosh(2 * re) + Math.cos(2 * im);
        set(to, Math.sinh(2 * re) / below, Math.sin(2 * im) / below);
    }
}

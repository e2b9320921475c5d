package io.seriatim.tensor.numerics;

/**
 * Elementary functions of one complex number and their slopes. Inverse functions have the branch cuts of C, and are
 * computed without cancellation (Kahan, Branch Cuts for Complex Elementary Functions, 1987).
 */
public enum ComplexElementary {
    /** The tangent. */
    TAN,
    /** The hyperbolic sine. */
    SINH,
    /** The hyperbolic cosine. */
    COSH,
    /** The inverse of the sine. */
    ASIN,
    /** The inverse of the cosine. */
    ACOS,
    /** The inverse of the tangent. */
    ATAN,
    /** The inverse of the hyperbolic sine. */
    ASINH,
    /** The inverse of the hyperbolic cosine. */
    ACOSH,
    /** The inverse of the hyperbolic tangent. */
    ATANH,
    /** The exponential less 1. */
    EXPM1;

    private static final double LN2 = Math.log(2);
    /** Beside the squares of larger numbers, 1 does not count. */
    private static final double SQUARED = 0x1p28;
    /** Up to here the squares in a tangent do not overflow. */
    private static final double LARGEST_TANGENT = 20;

    /**
     * Computes the function.
     *
     * @param re
     *            the real part
     * @param im
     *            the imaginary part
     * @param to
     *            gets real and imaginary part of the result
     */
    public void apply(double re, double im, double[] to) {
        switch (this) {
            case TAN -> {
                tanh(-im, re, to);
                set(to, to[1], -to[0]);
            }
            case SINH -> set(to, Math.sinh(re) * Math.cos(im), Math.cosh(re) * Math.sin(im));
            case COSH -> set(to, Math.cosh(re) * Math.cos(im), Math.sinh(re) * Math.sin(im));
            case ASIN -> asin(re, im, to);
            case ACOS -> {
                Roots roots = Roots.of(1 - re, -im, 1 + re, im);
                set(to, 2 * Math.atan2(roots.a, roots.c), asinh(roots.b * roots.c - roots.a * roots.d));
            }
            case ATAN -> {
                atanh(-im, re, to);
                set(to, to[1], -to[0]);
            }
            case ASINH -> {
                asin(im, -re, to);
                set(to, -to[1], to[0]);
            }
            case ACOSH -> {
                Roots roots = Roots.of(re - 1, im, re + 1, im);
                set(to, asinh(roots.a * roots.c + roots.b * roots.d), 2 * Math.atan2(roots.b, roots.c));
            }
            case ATANH -> atanh(re, im, to);
            case EXPM1 -> {
                double half = Math.sin(im / 2);
                set(to, Math.expm1(re) * Math.cos(im) - 2 * half * half, Math.exp(re) * Math.sin(im));
            }
        }
    }

    /**
     * Computes the slope of the function.
     *
     * @param re
     *            the real part of the argument
     * @param im
     *            the imaginary part of the argument
     * @param to
     *            gets real and imaginary part of the result
     */
    public void slope(double re, double im, double[] to) {
        double square = (re - im) * (re + im);
        double both = 2 * re * im; // To which the parts of 1 are added, so that it is not −0.
        switch (this) {
            case TAN -> {
                set(to, Math.cos(re) * Math.cosh(im), -Math.sin(re) * Math.sinh(im));
                reciprocal((to[0] - to[1]) * (to[0] + to[1]), 2 * to[0] * to[1], to);
            }
            case SINH -> COSH.apply(re, im, to);
            case COSH -> SINH.apply(re, im, to);
            case ASIN -> ofRoot(1 - square, 0 - both, to);
            case ACOS -> {
                ofRoot(1 - square, 0 - both, to);
                set(to, -to[0], -to[1]);
            }
            case ATAN -> reciprocal(1 + square, 0 + both, to);
            case ASINH -> ofRoot(1 + square, 0 + both, to);
            case ACOSH -> ofRoot(square - 1, both, to);
            case ATANH -> reciprocal(1 - square, 0 - both, to);
            case EXPM1 -> set(to, Math.exp(re) * Math.cos(im), Math.exp(re) * Math.sin(im));
        }
    }

    /**
     * The inverse of the hyperbolic sine of a real number.
     *
     * @param x
     *            the number, whose square may be infinite
     * @return with the sign of x
     */
    public static double asinh(double x) {
        double size = Math.abs(x);
        double result = size > SQUARED ? Math.log(size) + LN2 : Math.log1p(size + x * x / (1 + Math.sqrt(1 + x * x)));
        return Math.copySign(result, x);
    }

    private static void set(double[] to, double re, double im) {
        to[0] = re;
        to[1] = im;
    }

    /** The square roots a + ib and c + id of two numbers. */
    private record Roots(double a, double b, double c, double d) {
        static Roots of(double re, double im, double otherRe, double otherIm) {
            double[] first = new double[2];
            double[] second = new double[2];
            sqrt(re, im, first);
            sqrt(otherRe, otherIm, second);
            return new Roots(first[0], first[1], second[0], second[1]);
        }
    }

    private static void asin(double re, double im, double[] to) {
        Roots roots = Roots.of(1 - re, -im, 1 + re, im);
        set(to, Math.atan2(re, roots.a * roots.c - roots.b * roots.d),
                asinh(roots.a * roots.d - roots.b * roots.c));
    }

    private static void atanh(double re, double im, double[] to) {
        double size = Math.hypot(1 - re, im);
        double real = Math.log1p(4 * (re / size) / size) / 4;
        set(to, real, Math.atan2(2 * im, (1 - re) * (1 + re) - im * im) / 2);
    }

    /** (sinh 2a + i sin 2b) / (cosh 2a + cos 2b), and ±1 where the hyperbolic functions overflow. */
    private static void tanh(double re, double im, double[] to) {
        if (Math.abs(re) > LARGEST_TANGENT) {
            set(to, Math.signum(re), 4 * Math.sin(im) * Math.cos(im) * Math.exp(-2 * Math.abs(re)));
            return;
        }
        double below = Math.cosh(2 * re) + Math.cos(2 * im);
        set(to, Math.sinh(2 * re) / below, Math.sin(2 * im) / below);
    }

    private static void sqrt(double re, double im, double[] to) {
        double root = Math.sqrt((Math.hypot(re, im) + Math.abs(re)) / 2);
        if (root == 0) {
            set(to, 0, im);
        } else if (re >= 0) {
            set(to, root, im / (2 * root));
        } else {
            set(to, Math.abs(im) / (2 * root), Math.copySign(root, im));
        }
    }

    private static void ofRoot(double re, double im, double[] to) {
        sqrt(re, im, to);
        reciprocal(to[0], to[1], to);
    }

    private static void reciprocal(double re, double im, double[] to) {
        double norm = re * re + im * im;
        set(to, re / norm, -im / norm);
    }
}

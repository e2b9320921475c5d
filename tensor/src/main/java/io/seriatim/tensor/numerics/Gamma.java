package io.seriatim.tensor.numerics;

/**
 * The logarithm of the absolute gamma function, and its derivatives. The recurrence raises the argument until the
 * asymptotic series converges; arguments below 1/2 are reflected.
 */
public final class Gamma {
    private static final double LARGE = 12;
    private static final double HALF_LOG_TWO_PI = Math.log(2 * Math.PI) / 2;

    /** B₂/2!, B₄/4! and so on, where B are the Bernoulli numbers. */
    private static final double[] BERNOULLI = {1 / 12.0, -1 / 720.0, 1 / 30240.0, -1 / 1209600.0, 1 / 47900160.0,
            -691 / 1307674368000.0};

    private Gamma() {
    }

    /**
     * Returns the logarithm of |Γ(x)|.
     *
     * @param x
     *            the argument
     * @return infinite at the poles, which are 0 and the negative whole numbers
     */
    public static double logarithm(double x) {
        if (x <= 0 && x == Math.floor(x)) {
            return Double.POSITIVE_INFINITY;
        }
        if (x < 0.5) {
            return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * fromWhole(x)))) - logarithm(1 - x);
        }
        double product = 1;
        double at = x;
        for (; at < LARGE; at++) {
            product *= at;
        }
        double inverse = 1 / (at * at);
        double high = 1 / 1260.0 - inverse * (1 / 1680.0 - inverse * (1 / 1188.0 - inverse * (691 / 360360.0)));
        double series = (1 / 12.0 - inverse * (1 / 360.0 - inverse * high)) / at;
        return (at - 0.5) * Math.log(at) - at + HALF_LOG_TWO_PI + series - Math.log(product);
    }

    /**
     * Returns the digamma function, the derivative of the logarithm of Γ.
     *
     * @param x
     *            the argument
     * @return not a number at the poles
     */
    public static double digamma(double x) {
        if (x <= 0 && x == Math.floor(x)) {
            return Double.NaN;
        }
        if (x < 0.5) {
            return digamma(1 - x) - Math.PI / Math.tan(Math.PI * fromWhole(x));
        }
        double sum = 0;
        double at = x;
        for (; at < LARGE; at++) {
            sum -= 1 / at;
        }
        double inverse = 1 / (at * at);
        double high = 1 / 252.0 - inverse * (1 / 240.0 - inverse * (1 / 132.0 - inverse * (691 / 32760.0)));
        return sum + Math.log(at) - 1 / (2 * at) - inverse * (1 / 12.0 - inverse * (1 / 120.0 - inverse * high));
    }

    /** The difference from the nearest whole number. It is exact, unlike the product of π and a large number. */
    private static double fromWhole(double x) {
        return x - Math.rint(x);
    }

    /**
     * Returns the trigamma function, the derivative of digamma.
     *
     * @param x
     *            the argument
     * @return infinite at the poles
     */
    public static double trigamma(double x) {
        if (x <= 0 && x == Math.floor(x)) {
            return Double.POSITIVE_INFINITY;
        }
        if (x < 0.5) {
            double sine = Math.sin(Math.PI * fromWhole(x));
            return Math.PI * Math.PI / (sine * sine) - trigamma(1 - x);
        }
        double sum = 0;
        double at = x;
        for (; at < LARGE; at++) {
            sum += 1 / (at * at);
        }
        double inverse = 1 / (at * at);
        double high = 1 / 42.0 - inverse * (1 / 30.0 - inverse * (5 / 66.0 - inverse * (691 / 2730.0)));
        double series = 1 / 6.0 - inverse * (1 / 30.0 - inverse * high);
        return sum + 1 / at + inverse / 2 + inverse / at * series;
    }

    /**
     * Returns the n-th derivative of digamma. Up to its sign it is n! times Hurwitz's zeta function of n + 1, which
     * is computed by the Euler–Maclaurin formula.
     *
     * @param n
     *            the order, from 0
     * @param x
     *            the argument
     * @return infinite at the poles if n is positive
     */
    public static double polygamma(int n, double x) {
        if (n == 0) {
            return digamma(x);
        }
        double sign = n % 2 == 0 ? -1 : 1;
        if (x <= 0 && x == Math.floor(x)) {
            return sign * Double.POSITIVE_INFINITY;
        }
        double factorial = 1;
        for (int k = 2; k <= n; k++) {
            factorial *= k;
        }
        if (x > 0) {
            return sign * factorial * zeta(n + 1, x);
        }
        // The terms of the series at negative numbers equal, up to their sign, those between two positive numbers.
        double first = x - Math.floor(x);
        double toZero = Math.ceil(x) - x;
        double negative = zeta(n + 1, toZero) - zeta(n + 1, 1 - x);
        return sign * factorial * (zeta(n + 1, first) + (n % 2 == 0 ? -negative : negative));
    }

    /** Hurwitz's zeta function of a positive x: the sum of (x + k)^−s for all k from 0 on. */
    private static double zeta(int s, double x) {
        if (Double.isInfinite(x)) {
            return 0;
        }
        double sum = 0;
        double at = x;
        // The remainder's series converges only for larger arguments if s is larger.
        for (; at < LARGE + s; at++) {
            sum += Math.pow(at, -s);
        }
        double inverse = 1 / (at * at);
        double term = s / at;
        double series = at / (s - 1) + 0.5;
        for (int k = 0; k < BERNOULLI.length; k++) {
            series += BERNOULLI[k] * term;
            term *= (s + 2 * k + 1.0) * (s + 2 * k + 2.0) * inverse;
        }
        return sum + series * Math.pow(at, -s);
    }
}

package io.seriatim.tensor.numerics;

/**
 * Modified Bessel functions of the first kind of orders 0 and 1, plain and scaled by e^−|x|. Up to 30 they are computed
 * by the power series, all of whose terms have one sign, beyond by the asymptotic series (Abramowitz, Stegun: 9.6.10
 * and 9.7.1).
 */
public final class Bessel {
    private static final double LARGE = 30;

    private Bessel() {
    }

    /**
     * Returns I₀(x), the function of order 0.
     *
     * @param x
     *            the argument
     * @return at least 1; infinite where it is too large for a double
     */
    public static double i0(double x) {
        return scaled(0, Math.abs(x), false);
    }

    /**
     * Returns I₁(x), the function of order 1.
     *
     * @param x
     *            the argument
     * @return of the sign of x; infinite where it is too large for a double
     */
    public static double i1(double x) {
        return Math.signum(x) * scaled(1, Math.abs(x), false);
    }

    /**
     * Returns the derivative of I₁.
     *
     * @param x
     *            the argument
     * @return I₀(x) − I₁(x) / x, and 1/2 at 0
     */
    public static double i1Slope(double x) {
        double i0 = i0(x);
        return x == 0 ? 0.5 : Double.isInfinite(i0) ? i0 : i0 - i1(x) / x;
    }

    /**
     * Returns I₀(x) · e^−|x|, which does not overflow.
     *
     * @param x
     *            the argument
     * @return from 0 to 1
     */
    public static double i0Scaled(double x) {
        return scaled(0, Math.abs(x), true);
    }

    /**
     * Returns I₁(x) · e^−|x|, which does not overflow.
     *
     * @param x
     *            the argument
     * @return of the sign of x
     */
    public static double i1Scaled(double x) {
        return Math.signum(x) * scaled(1, Math.abs(x), true);
    }

    private static double scaled(int order, double x, boolean isScaled) {
        if (Double.isInfinite(x)) {
            return isScaled ? 0 : x;
        }
        if (x > LARGE) {
            double series = asymptotic(order, x) / Math.sqrt(2 * Math.PI * x);
            // Two factors, since eˣ may overflow where the product does not.
            return isScaled ? series : series * Math.exp(x / 2) * Math.exp(x / 2);
        }
        double series = power(order, x);
        return isScaled ? series * Math.exp(-x) : series;
    }

    private static double power(int order, double x) {
        double square = x * x / 4;
        double term = order == 0 ? 1 : x / 2;
        double sum = term;
        for (int k = 1; term > sum * 1e-18; k++) {
            term *= square / (k * (double) (k + order));
            sum += term;
        }
        return sum;
    }

    private static double asymptotic(int order, double x) {
        double term = 1;
        double sum = 1;
        for (int k = 1; Math.abs(term) > 1e-18; k++) {
            double odd = 2 * k - 1.0;
            term *= -(4 * order - odd * odd) / (k * 8 * x);
            sum += term;
        }
        return sum;
    }
}

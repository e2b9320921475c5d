package io.seriatim.graph.numerics;

/**
 * Modified Bessel functions of the first kind of the orders 0 and 1, also times e^−|x|: the power series, whose terms
 * are positive, and for large numbers the asymptotic one (Abramowitz, Stegun: 9.6.10 and 9.7.1).
 */
public final class Bessel {
    private static final double LARGE = 30;

    private Bessel() {
    }

    public static double i0(double x) {
        return scaled(0, Math.abs(x), false);
    }

    public static double i1(double x) {
        return Math.signum(x) * scaled(1, Math.abs(x), false);
    }

    public static double i1Slope(double x) {
        double i0 = i0(x);
        return x == 0 ? 0.5 : Double.isInfinite(i0) ? i0 : i0 - i1(x) / x;
    }

    public static double i0Scaled(double x) {
        return scaled(0, Math.abs(x), true);
    }

    public static double i1Scaled(double x) {
        return Math.signum(x) * scaled(1, Math.abs(x), true);
    }

    private static double scaled(int order, double x, boolean isScaled) {
        if (Double.isInfinite(x)) {
            return isScaled ? 0 : x;
        }
        if (x > LARGE) {
            double series = asymptotic(order, x) / Math.sqrt(2 * Math.PI * x);
            // In two halves, since eˣ may be too large where its product is not.
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

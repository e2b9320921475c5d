package io.seriatim.graph.op;

/** The logarithm of the absolute gamma function, and its derivatives: by recurrence to large arguments, where the asymptotic series converge; below 1/2 by reflection. */
final class Gamma {
    private static final double LARGE = 12;
    private static final double HALF_LOG_TWO_PI = Math.log(2 * Math.PI) / 2;

    private Gamma() {
    }

    static double logarithm(double x) {
        if (x <= 0 && x == Math.floor(x)) {
            return Double.POSITIVE_INFINITY;
        }
        if (x < 0.5) {
            return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - logarithm(1 - x);
        }
        double product = 1;
        double at = x;
        for (; at < LARGE; at++) {
            product *= at;
        }
        double inverse = 1 / (at * at);
        double series = (1 / 12.0 - inverse * (1 / 360.0 - inverse * (1 / 1260.0 - inverse / 1680))) / at;
        return (at - 0.5) * Math.log(at) - at + HALF_LOG_TWO_PI + series - Math.log(product);
    }

    static double digamma(double x) {
        if (x <= 0 && x == Math.floor(x)) {
            return Double.NaN;
        }
        if (x < 0.5) {
            return digamma(1 - x) - Math.PI / Math.tan(Math.PI * x);
        }
        double sum = 0;
        double at = x;
        for (; at < LARGE; at++) {
            sum -= 1 / at;
        }
        double inverse = 1 / (at * at);
        return sum + Math.log(at) - 1 / (2 * at) - inverse * (1 / 12.0 - inverse * (1 / 120.0 - inverse * (1 / 252.0 - inverse / 240)));
    }

    static double trigamma(double x) {
        if (x < 0.5) {
            double sine = Math.sin(Math.PI * x);
            return Math.PI * Math.PI / (sine * sine) - trigamma(1 - x);
        }
        double sum = 0;
        double at = x;
        for (; at < LARGE; at++) {
            sum += 1 / (at * at);
        }
        double inverse = 1 / (at * at);
        double series = 1 / 6.0 - inverse * (1 / 30.0 - inverse * (1 / 42.0 - inverse / 30));
        return sum + 1 / at + inverse / 2 + inverse / at * series;
    }
}

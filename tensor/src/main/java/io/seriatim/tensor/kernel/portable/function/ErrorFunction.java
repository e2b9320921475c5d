package io.seriatim.tensor.kernel.portable.function;

/**
 * The error function erf x = 2/√π ∫₀ˣ exp(−t²) dt. Below 2.5 by its series (Abramowitz and Stegun, 7.1.6), above by the
 * continued fraction of its complement (7.1.14): both to the accuracy of a double.
 */
public final class ErrorFunction {
    private static final double TURN = 2.5;
    private static final double SATURATED = 6;
    private static final int TERMS = 60;
    private static final double TWO_BY_ROOT_PI = 2 / Math.sqrt(Math.PI);

    private ErrorFunction() {
    }

    public static double erf(double x) {
        double magnitude = Math.abs(x);
        if (magnitude > SATURATED) {
            return Math.signum(x);
        }
        return magnitude < TURN ? series(x) : Math.copySign(1 - complement(magnitude), x);
    }

    private static double series(double x) {
        double term = x;
        double sum = x;
        double twice = 2 * x * x;
        for (int n = 1; n < 2 * TERMS; n++) {
            term *= twice / (2 * n + 1);
            sum += term;
            if (Math.abs(term) < 1e-18 * Math.abs(sum)) {
                break;
            }
        }
        return x == 0 ? x : TWO_BY_ROOT_PI * Math.exp(-x * x) * sum;
    }

    private static double complement(double x) {
        double fraction = x;
        for (int n = TERMS; n > 0; n--) {
            fraction = x + n * 0.5 / fraction;
        }
        return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
    }
}

package io.seriatim.tensor.kernel.portable;

/**
 * The inverse of the normal distribution's cumulative function, restricted to two deviations: a Newton iteration on
 * Φ(x) = (1 + erf(x/√2)) / 2 with bisection as a guard.
 */
final class NormalQuantile {
    private static final double BOUND = 2;
    private static final double LEAST = cumulative(-BOUND);
    private static final double MOST = cumulative(BOUND);
    private static final int STEPS = 40;
    private static final double ENOUGH = 1e-14;

    private NormalQuantile() {
    }

    private static double cumulative(double x) {
        return 0.5 * (1 + ErrorFunction.erf(x * Math.sqrt(0.5)));
    }

    /** A number of the truncated normal distribution for one evenly between 0 and 1. */
    static double truncated(double uniform) {
        double wanted = LEAST + uniform * (MOST - LEAST);
        double low = -BOUND;
        double high = BOUND;
        double x = 0;
        for (int i = 0; i < STEPS; i++) {
            double error = cumulative(x) - wanted;
            if (error > 0) {
                high = x;
            } else {
                low = x;
            }
            double next = x - error * Math.sqrt(2 * Math.PI) * Math.exp(0.5 * x * x);
            next = next > low && next < high ? next : 0.5 * (low + high);
            if (Math.abs(next - x) < ENOUGH) {
                return next;
            }
            x = next;
        }
        return x;
    }
}

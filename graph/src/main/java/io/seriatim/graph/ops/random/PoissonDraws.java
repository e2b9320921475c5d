package io.seriatim.graph.ops.random;

import io.seriatim.tensor.numerics.Gamma;

/**
 * Poisson numbers of a mean: for small means the count of uniform numbers whose product stays above e to the −mean, for
 * others a rejection from a normal number to the left and to the right of the mode, with an exponential tail (Devroye,
 * Non-Uniform Random Variate Generation, 1986, X.3). In double precision whatever the type of the result.
 */
final class PoissonDraws {
    /** From this mean on, products would take too many draws. */
    private static final double LARGE = 12;
    /** Larger means give numbers that Paddle's whole numbers of 32 bits do not hold. */
    private static final double LARGEST = 2e9;
    private static final double ROOT_OF_HALF_PI = Math.sqrt(Math.PI / 2);
    /** The logarithm of the bound on the probability of mode + 1 relative to that of the mode. */
    private static final double AT_ONE = 1.0 / 78;

    private final PaddleDraws draws;
    private final double mean;
    private final double mode;
    /** The standard deviation of the normal numbers on the left. */
    private final double left;
    /** Where the tail begins, from the mode. */
    private final double tail;
    private final double inverse;
    /** The standard deviation of the normal numbers on the right. */
    private final double right;
    /** Upper ends of the parts of the dominating curve, by area. */
    private final double[] ends;
    /** The second number of the last pair of normal numbers, if it was not used. */
    private double spare = Double.NaN;

    private PoissonDraws(PaddleDraws draws, double mean) {
        this.draws = draws;
        this.mean = mean;
        mode = Math.floor(mean);
        left = Math.sqrt(mode);
        double reach = Math.sqrt(2 * mode * Math.log(32 * mode / (Math.PI / 4)));
        tail = Math.floor(Math.max(6, Math.min(mode, reach)) + 0.5);
        double width = 2 * mode + tail;
        inverse = 1 / width;
        right = Math.sqrt(width / 2);
        double normalLeft = left * ROOT_OF_HALF_PI;
        double normalRight = normalLeft + Math.sqrt(Math.PI / 4 * width) * Math.exp(inverse);
        double one = normalRight + 2 + Math.exp(AT_ONE);
        double all = one + 2 * width * Math.exp(-tail * inverse * (1 + tail / 2)) / tail;
        ends = new double[]{normalLeft, normalRight, normalRight + 1, normalRight + 2, one, all};
    }

    /** One number; a mean that is not above 0 gives 0. */
    static double draw(PaddleDraws draws, double mean) {
        if (mean > LARGEST) {
            throw new IllegalArgumentException(
                    "poisson: the means in X must be " + LARGEST + " or less, but one is " + mean);
        }
        return mean >= LARGE ? new PoissonDraws(draws, mean).rejected() : product(draws, mean);
    }

    private static double product(PaddleDraws draws, double mean) {
        double bound = Math.exp(-mean);
        double product = draws.unitDouble();
        int count = 0;
        while (product > bound) {
            product *= draws.unitDouble();
            count++;
        }
        return count;
    }

    private double rejected() {
        double threshold = Math.log(mean);
        double atMode = Gamma.logarithm(mode + 1);
        while (true) {
            double area = ends[5] * draws.unitDouble();
            double exponential = exponential();
            // The candidate, from the mode, and the logarithm of the dominating curve there.
            double x;
            double height = 0;
            if (area <= ends[0]) {
                double normal = normal();
                x = Math.floor(-Math.abs(normal) * left - 1);
                height = -normal * normal / 2;
                if (x < -mode) {
                    continue;
                }
            } else if (area <= ends[1]) {
                double y = 1 + Math.abs(normal()) * right;
                x = Math.ceil(y);
                height = y * (2 - y) * inverse;
                if (x > tail) {
                    continue;
                }
            } else if (area <= ends[2]) {
                x = -1;
            } else if (area <= ends[3]) {
                x = 0;
            } else if (area <= ends[4]) {
                x = 1;
                height = AT_ONE;
            } else {
                double y = tail + exponential() * 2 * (2 * mode + tail) / tail;
                x = Math.ceil(y);
                height = -tail * inverse * (1 + y / 2);
            }
            if (height - exponential - x * threshold <= atMode - Gamma.logarithm(x + mode + 1)) {
                return x + mode;
            }
        }
    }

    private double exponential() {
        return -Math.log(1 - draws.unitDouble());
    }

    private double normal() {
        if (Double.isNaN(spare)) {
            double[] pair = draws.pairOfDoubles();
            spare = pair[1];
            return pair[0];
        }
        double next = spare;
        spare = Double.NaN;
        return next;
    }
}

package io.seriatim.graph.ops.random;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.numerics.Power;

/**
 * Gamma numbers by rejection from the cube of a normal number (Marsaglia, Tsang, 2000), in the precision of a type.
 * Each normal number is the first of a new pair, and the constants are those of single precision, as in Paddle.
 */
final class GammaDraws {
    private static final double THIRD = 1f / 3f;
    private static final double SQUEEZE = 0.0331f;

    private final PaddleDraws draws;
    private final boolean exact;

    GammaDraws(PaddleDraws draws, DType dtype) {
        this.draws = draws;
        exact = dtype == DType.FLOAT64;
    }

    /** The least number that is given: none is 0. */
    private double least() {
        return exact ? Double.MIN_NORMAL : Float.MIN_NORMAL;
    }

    private double rounded(double value) {
        return exact ? value : (float) value;
    }

    private double uniform() {
        return exact ? draws.unitDouble() : draws.unitFloat();
    }

    private double normal() {
        return (exact ? draws.pairOfDoubles() : draws.pairOfFloats())[0];
    }

    /** A number for a shape parameter from 0. */
    double draw(double alpha) {
        if (alpha == 0) {
            return least();
        }
        if (alpha >= 1) {
            return Math.max(least(), atLeastOne(1, alpha));
        }
        double scale = rounded(Power.of(rounded(1 - uniform()), rounded(1 / alpha)));
        return Math.max(least(), atLeastOne(scale, rounded(alpha + 1)));
    }

    private double atLeastOne(double scale, double alpha) {
        double d = rounded(alpha - THIRD);
        double c = rounded(1 / rounded(Math.sqrt(rounded(9 * d))));
        while (true) {
            double x = normal();
            double root = rounded(1 + rounded(c * x));
            if (root > 0) {
                double cube = rounded(rounded(root * root) * root);
                double u = rounded(1 - uniform());
                double square = rounded(x * x);
                if (u < rounded(1 - rounded(rounded(SQUEEZE * square) * square)) || isBelow(u, square, d, cube)) {
                    return rounded(rounded(scale * d) * cube);
                }
            }
        }
    }

    private boolean isBelow(double u, double square, double d, double cube) {
        double rest = rounded(rounded(1 - cube) + rounded(Math.log(cube)));
        return rounded(Math.log(u)) < rounded(rounded(0.5 * square) + rounded(d * rest));
    }
}

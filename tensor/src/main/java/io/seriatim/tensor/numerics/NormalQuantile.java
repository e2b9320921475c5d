package io.seriatim.tensor.numerics;

/**
 * Quantiles of the normal distribution (Wichura: Algorithm AS 241, Applied Statistics 37, 1988; PPND16), and the
 * inverse of the error function.
 */
public final class NormalQuantile {
    /** Φ(−2). */
    private static final double LEAST = 0.02275013194817921;
    private static final double CENTRE = 0.425;
    private static final double[] CENTRE_ABOVE = {3.3871328727963665, 133.14166789178438, 1971.5909503065513,
            13731.69376550946, 45921.95393154987, 67265.7709270087, 33430.57558358813, 2509.0809287301227};
    private static final double[] CENTRE_BELOW = {1, 42.31333070160091, 687.1870074920579, 5394.196021424751,
            21213.794301586597, 39307.89580009271, 28729.085735721943, 5226.495278852854};
    private static final double[] SIDE_ABOVE = {1.4234371107496835, 4.630337846156546, 5.769497221460691,
            3.6478483247632045, 1.2704582524523684, 0.2417807251774506, 0.022723844989269184,
            0.0007745450142783414};
    private static final double[] SIDE_BELOW = {1, 2.053191626637759, 1.6763848301838038, 0.6897673349851,
            0.14810397642748008, 0.015198666563616457, 0.0005475938084995345, 1.0507500716444169e-9};

    /** Where the side ends and the tail begins. */
    private static final double SIDE = 5;
    private static final double[] TAIL_ABOVE = {6.657904643501104, 5.463784911164114, 1.7848265399172913,
            0.29656057182850487,
            0.026532189526576124, 0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7};
    private static final double[] TAIL_BELOW = {1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615,
            7.868691311456133e-4,
            1.8463183175100548e-5, 1.421511758316446e-7, 2.0442631033899397e-15};

    private NormalQuantile() {
    }

    /**
     * Returns a quantile of the normal distribution truncated to two standard deviations.
     *
     * @param uniform
     *            the probability, from 0 to 1
     * @return from −2 to 2
     */
    public static double truncated(double uniform) {
        return of(LEAST + uniform * (1 - 2 * LEAST));
    }

    /**
     * Returns the inverse of the error function.
     *
     * @param x
     *            the argument
     * @return infinite at −1 and 1, and not a number outside of them
     */
    public static double errorInverse(double x) {
        if (!(Math.abs(x) < 1)) {
            return Math.abs(x) == 1 ? x * Double.POSITIVE_INFINITY : Double.NaN;
        }
        return of(x / 2, (1 - Math.abs(x)) / 2) * Math.sqrt(0.5);
    }

    private static double of(double probability) {
        return of(probability - 0.5, Math.min(probability, 1 - probability));
    }

    private static double of(double fromCentre, double fromEnd) {
        if (Math.abs(fromCentre) <= CENTRE) {
            double r = CENTRE * CENTRE - fromCentre * fromCentre;
            return fromCentre * polynomial(CENTRE_ABOVE, r) / polynomial(CENTRE_BELOW, r);
        }
        double r = Math.sqrt(-Math.log(fromEnd));
        double result = r <= SIDE
                ? polynomial(SIDE_ABOVE, r - 1.6) / polynomial(SIDE_BELOW, r - 1.6)
                : polynomial(TAIL_ABOVE, r - SIDE) / polynomial(TAIL_BELOW, r - SIDE);
        return Math.copySign(result, fromCentre);
    }

    private static double polynomial(double[] coefficients, double x) {
        double sum = 0;
        for (int i = coefficients.length - 1; i >= 0; i--) {
            sum = sum * x + coefficients[i];
        }
        return sum;
    }
}

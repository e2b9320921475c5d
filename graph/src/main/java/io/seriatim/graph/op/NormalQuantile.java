package io.seriatim.graph.op;

/** The inverse of the normal distribution's cumulative function (Wichura: Algorithm AS 241, Applied Statistics 37, 1988; PPND16), restricted to two deviations. */
final class NormalQuantile {
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

    private NormalQuantile() {
    }

    /** A number of the truncated normal distribution for one evenly between 0 and 1. */
    static double truncated(double uniform) {
        return of(LEAST + uniform * (1 - 2 * LEAST));
    }

    private static double of(double probability) {
        double fromCentre = probability - 0.5;
        if (Math.abs(fromCentre) <= CENTRE) {
            double r = CENTRE * CENTRE - fromCentre * fromCentre;
            return fromCentre * polynomial(CENTRE_ABOVE, r) / polynomial(CENTRE_BELOW, r);
        }
        double r = Math.sqrt(-Math.log(Math.min(probability, 1 - probability))) - 1.6;
        return Math.copySign(polynomial(SIDE_ABOVE, r) / polynomial(SIDE_BELOW, r), fromCentre);
    }

    private static double polynomial(double[] coefficients, double x) {
        double sum = 0;
        for (int i = coefficients.length - 1; i >= 0; i--) {
            sum = sum * x + coefficients[i];
        }
        return sum;
    }
}

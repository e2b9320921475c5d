package io.seriatim.tensor.numerics;

/** The power with the special cases of C99 (annex F), which NumPy, PaddlePaddle and ONNX Runtime have too. */
public final class Power {
    private Power() {
    }

    /**
     * Computes a power. Unlike {@link Math#pow}, it is 1 for the base 1 with any exponent, and for the base −1 with an
     * infinite one.
     *
     * @param base
     *            the base
     * @param exponent
     *            the exponent
     * @return the base to the power of the exponent
     */
    public static double of(double base, double exponent) {
        return base == 1 || (base == -1 && Double.isInfinite(exponent)) ? 1 : Math.pow(base, exponent);
    }
}

package io.seriatim.tensor.numerics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Special functions against tables and identities. */
class SpecialFunctionsTest {
    /** Abramowitz and Stegun, table 9.8, and both series where they meet. */
    @Test
    void besselFunctions() {
        assertEquals(1.2660658777520084, Bessel.i0(1), 1e-15);
        assertEquals(0.5651591039924851, Bessel.i1(1), 1e-15);
        assertEquals(Bessel.i0Scaled(30), Bessel.i0Scaled(Math.nextUp(30.0)), 1e-15);
        assertEquals(Bessel.i1Scaled(30), Bessel.i1Scaled(Math.nextUp(30.0)), 1e-15);
        assertEquals(-Bessel.i1(2.5), Bessel.i1(-2.5));
        assertEquals(Double.POSITIVE_INFINITY, Bessel.i0(Double.NEGATIVE_INFINITY));
        assertEquals(Double.NEGATIVE_INFINITY, Bessel.i1(Double.NEGATIVE_INFINITY));
        assertEquals(0, Bessel.i0Scaled(Double.POSITIVE_INFINITY));
        assertEquals(Double.NaN, Bessel.i0(Double.NaN));
        assertEquals(Double.NaN, Bessel.i1Scaled(Double.NaN));
    }

    @Test
    void derivativesOfGamma() {
        assertEquals(Gamma.trigamma(0.7), Gamma.polygamma(1, 0.7), 1e-12);
        assertEquals(Gamma.digamma(3.2), Gamma.polygamma(0, 3.2));
        // ψ″(1) = −2 · ζ(3), ψ⁗(1) = −24 · ζ(5)
        assertEquals(-2.4041138063191885, Gamma.polygamma(2, 1), 1e-13);
        assertEquals(-24.88626612344088, Gamma.polygamma(4, 1), 1e-12);
        assertEquals(Gamma.trigamma(-1000.3), Gamma.polygamma(1, -1000.3), 1e-9);
        assertEquals(Gamma.polygamma(2, -0.3), Gamma.polygamma(2, 0.7) - 2 / Math.pow(-0.3, 3), 1e-10);
        assertEquals(Gamma.polygamma(3, -1e9 - 0.5), Gamma.polygamma(3, -1e8 - 0.5), 1e-9);
        assertEquals(0, Gamma.polygamma(1, Double.POSITIVE_INFINITY));
        assertEquals(Double.POSITIVE_INFINITY, Gamma.polygamma(1, -2));
        assertEquals(Double.NEGATIVE_INFINITY, Gamma.polygamma(2, 0));
    }

    /** The 0.95 quantile of the normal distribution is 1.6448536269514722; Φ(−2) = 0.02275013194817921. */
    @Test
    void quantiles() {
        double below = 0.02275013194817921;
        assertEquals(1.6448536269514722, NormalQuantile.truncated((0.95 - below) / (1 - 2 * below)), 1e-14);
        assertEquals(0, NormalQuantile.truncated(0.5));
        assertEquals(-2, NormalQuantile.truncated(0), 1e-14);
        assertEquals(2, NormalQuantile.truncated(1), 1e-14);
        assertEquals(0.4769362762044699, NormalQuantile.errorInverse(0.5), 1e-15);
        assertEquals(Double.NEGATIVE_INFINITY, NormalQuantile.errorInverse(-1));
        assertEquals(Double.NaN, NormalQuantile.errorInverse(1.5));
    }
}

package io.seriatim.tensor.kernel.portable.function;

import java.util.Arrays;

/**
 * The logistic function and the hyperbolic tangent of short arrays of float32, and the loops between them. The second
 * is x times a quotient of two polynomials of x², fitted so that the largest relative error is least; the first is
 * (1 + tanh x/2) / 2. All is computed in float32, with fused multiply-adds: the tangent's relative error is at most
 * 4e-7, and the logistic function's error is at most 2e-7, so either may pass the ends of its range by as much. There
 * is neither a table nor a choice, so the JIT vectorises each loop, and NaN, infinities and the tangent's sign of 0
 * come out as {@code Math} gives them.
 */
public final class FloatGates {
    /**
     * The fewest elements that a loop computes; arrays are not shorter. The JIT vectorises only loops that ran long in
     * the profile.
     */
    public static final int LEAST = 64;
    /** Where the quotient is 1 exactly, as the hyperbolic tangent from 9.02 on. */
    private static final float SATURATED = 8.9f;
    private static final float HALF = 0.5f;
    private static final float P0 = 1;
    private static final float P1 = (float) 0.1337976915729131;
    private static final float P2 = (float) 0.0034940942459258913;
    private static final float P3 = (float) 2.0584412415459427e-05;
    private static final float P4 = (float) 1.3320256471766026e-08;
    private static final float Q1 = (float) 0.46713084434870467;
    private static final float Q2 = (float) 0.025871303292608762;
    private static final float Q3 = (float) 0.000328318831263789;
    private static final float Q4 = (float) 7.762527116208705e-07;

    private FloatGates() {
    }

    /**
     * 1 / (1 + e⁻ˣ); {@code y} may be {@code x}.
     *
     * @param x
     *            values
     * @param y
     *            values, or gets the results
     * @param count
     *            how many
     */
    public static void sigmoid(float[] x, float[] y, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            float v = Math.min(Math.max(HALF * x[i], -SATURATED), SATURATED);
            float q = v * v;
            float numerator = Math.fma(Math.fma(Math.fma(Math.fma(P4, q, P3), q, P2), q, P1), q, P0);
            float denominator = Math.fma(Math.fma(Math.fma(Math.fma(Q4, q, Q3), q, Q2), q, Q1), q, 1);
            y[i] = HALF * v * numerator / denominator + HALF;
        }
    }

    /**
     * The hyperbolic tangent; {@code y} may be {@code x}.
     *
     * @param x
     *            values
     * @param y
     *            values, or gets the results
     * @param count
     *            how many
     */
    public static void tanh(float[] x, float[] y, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            float v = Math.min(Math.max(x[i], -SATURATED), SATURATED);
            float q = v * v;
            float numerator = Math.fma(Math.fma(Math.fma(Math.fma(P4, q, P3), q, P2), q, P1), q, P0);
            float denominator = Math.fma(Math.fma(Math.fma(Math.fma(Q4, q, Q3), q, Q2), q, Q1), q, 1);
            y[i] = v * numerator / denominator;
        }
    }

    /**
     * The logistic function or the hyperbolic tangent of sums of two values, as {@link #sigmoid} and {@link #tanh}
     * compute them.
     *
     * @param x
     *            values, which are replaced
     * @param more
     *            values that are added to them
     * @param scale
     *            ½ for the logistic function, 1 for the tangent
     * @param shift
     *            ½ for the logistic function, −0 for the tangent
     * @param count
     *            how many
     */
    public static void activate(float[] x, float[] more, float[] scale, float[] shift, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            float v = Math.min(Math.max(scale[i] * (x[i] + more[i]), -SATURATED), SATURATED);
            float q = v * v;
            float numerator = Math.fma(Math.fma(Math.fma(Math.fma(P4, q, P3), q, P2), q, P1), q, P0);
            float denominator = Math.fma(Math.fma(Math.fma(Math.fma(Q4, q, Q3), q, Q2), q, Q1), q, 1);
            x[i] = scale[i] * v * numerator / denominator + shift[i];
        }
    }

    /**
     * The factors and addends of {@link #activate} for one function.
     *
     * @param scale
     *            gets the factors
     * @param shift
     *            gets the addends
     * @param from
     *            the index of the first
     * @param to
     *            beyond the last
     * @param tangent
     *            whether it is the tangent
     */
    public static void function(float[] scale, float[] shift, int from, int to, boolean tangent) {
        Arrays.fill(scale, from, to, tangent ? 1 : HALF);
        Arrays.fill(shift, from, to, tangent ? -0f : HALF);
    }

    /**
     * out · tanh x, to {@code y}.
     *
     * @param x
     *            values
     * @param out
     *            factors
     * @param y
     *            gets the results
     * @param count
     *            how many
     */
    public static void tanhTimes(float[] x, float[] out, float[] y, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            float v = Math.min(Math.max(x[i], -SATURATED), SATURATED);
            float q = v * v;
            float numerator = Math.fma(Math.fma(Math.fma(Math.fma(P4, q, P3), q, P2), q, P1), q, P0);
            float denominator = Math.fma(Math.fma(Math.fma(Math.fma(Q4, q, Q3), q, Q2), q, Q1), q, 1);
            y[i] = v * numerator / denominator * out[i];
        }
    }

    /**
     * The greater of a value and 0; {@code y} may be {@code x}.
     *
     * @param x
     *            values
     * @param y
     *            values, or gets the results
     * @param count
     *            how many
     */
    public static void relu(float[] x, float[] y, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            y[i] = Math.max(x[i], 0);
        }
    }

    /**
     * x + y, to {@code out}.
     *
     * @param x
     *            values
     * @param y
     *            values, or gets the results
     * @param out
     *            gets the results
     * @param count
     *            how many
     */
    public static void add(float[] x, float[] y, float[] out, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            out[i] = x[i] + y[i];
        }
    }

    /**
     * x · y, to {@code out}.
     *
     * @param x
     *            values
     * @param y
     *            values, or gets the results
     * @param out
     *            gets the results
     * @param count
     *            how many
     */
    public static void multiply(float[] x, float[] y, float[] out, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            out[i] = x[i] * y[i];
        }
    }

    /**
     * x + y · z, to {@code x}.
     *
     * @param x
     *            values
     * @param y
     *            values, or gets the results
     * @param z
     *            values
     * @param count
     *            how many
     */
    public static void addProduct(float[] x, float[] y, float[] z, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            x[i] += y[i] * z[i];
        }
    }

    /**
     * old · kept + fresh · put, to {@code old}.
     *
     * @param old
     *            values, which are replaced
     * @param kept
     *            the share that is kept
     * @param fresh
     *            new values
     * @param put
     *            the share of the new values
     * @param count
     *            how many
     */
    public static void cell(float[] old, float[] kept, float[] fresh, float[] put, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            old[i] = old[i] * kept[i] + fresh[i] * put[i];
        }
    }

    /**
     * old · kept + (1 − kept) · fresh, to {@code old}.
     *
     * @param old
     *            values, which are replaced
     * @param kept
     *            the share that is kept
     * @param fresh
     *            new values
     * @param count
     *            how many
     */
    public static void mix(float[] old, float[] kept, float[] fresh, int count) {
        int n = Math.max(count, LEAST);
        for (int i = 0; i < n; i++) {
            old[i] = kept[i] * old[i] + (1 - kept[i]) * fresh[i];
        }
    }

    /**
     * Adds four rows, each times a factor.
     *
     * @param sum
     *            is added to
     * @param a
     *            the first row
     * @param b
     *            the second row
     * @param c
     *            the third row
     * @param d
     *            the fourth row
     * @param factors
     *            the factors of the rows, from an index on
     * @param at
     *            the index of the first factor
     * @param n
     *            how many
     */
    public static void addRows(float[] sum, float[] a, float[] b, float[] c, float[] d, float[] factors, int at,
            int n) {
        float x = factors[at];
        float y = factors[at + 1];
        float z = factors[at + 2];
        float w = factors[at + 3];
        for (int i = 0; i < n; i++) {
            sum[i] += x * a[i] + y * b[i] + (z * c[i] + w * d[i]);
        }
    }
}

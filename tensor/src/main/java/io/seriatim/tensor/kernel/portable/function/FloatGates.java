package io.seriatim.tensor.kernel.portable.function;

/**
 * The logistic function and the hyperbolic tangent of short arrays of float32, computed in double and rounded once,
 * with errors below one unit in the last place. The first is 1 / (1 + e) with e = (e^(−x/512))^512, nine squarings of
 * a polynomial; the second is x times a quotient of two polynomials of x², fitted so that the largest relative error,
 * 2.2e-8, is least. There is neither a table nor a choice, so the JIT vectorises each loop, and NaN, infinities and
 * the sign of 0 come out as {@code Math} gives them.
 */
public final class FloatGates {
    /**
     * The fewest elements that a loop computes; arrays are not shorter. The JIT vectorises only loops that ran long in
     * the profile.
     */
    public static final int LEAST = 64;
    /** From here on the logistic function of −x is 0 in float32. */
    private static final float MOST = 104;
    private static final double BY_SQUARINGS = -1.0 / 512;
    /** From here on the hyperbolic tangent is 1 in float32. */
    private static final float SATURATED = 9.02f;
    private static final double C2 = 1.0 / 2;
    private static final double C3 = 1.0 / 6;
    private static final double C4 = 1.0 / 24;
    private static final double C5 = 1.0 / 120;
    private static final double C6 = 1.0 / 720;
    private static final double C7 = 1.0 / 5040;

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
            double t = Math.min(x[i], MOST) * BY_SQUARINGS;
            double e = C7 * t + C6;
            e = e * t + C5;
            e = e * t + C4;
            e = e * t + C3;
            e = e * t + C2;
            e = e * t + 1;
            e = e * t + 1;
            e *= e;
            e *= e;
            e *= e;
            e *= e;
            e *= e;
            e *= e;
            e *= e;
            e *= e;
            e *= e;
            y[i] = (float) (1 / (1 + e));
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
            double v = Math.min(Math.max(x[i], -SATURATED), SATURATED);
            double q = v * v;
            double p = 1.3320256471766026e-08 * q + 2.0584412415459427e-05;
            p = p * q + 0.0034940942459258913;
            p = p * q + 0.1337976915729131;
            p = p * q + 0.999999979058872;
            double r = 7.762527116208705e-07 * q + 0.000328318831263789;
            r = r * q + 0.025871303292608762;
            r = r * q + 0.46713084434870467;
            y[i] = (float) (v * p / (r * q + 1));
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

package io.seriatim.tensor.kernel.portable.function;

/**
 * Sine and cosine of float32, computed in float64, such that the result is almost always the float next to the exact
 * one. With n the whole number next to x / π, the sine of x is that of r = x − n π, negated for an odd n; the
 * cosine is the sine with n next to x / π, less a half. The sine of r, from −π/2 to π/2, is r (1 + r² P(r²)), where P
 * interpolates at Chebyshev points; its relative error is 4e-13. Since π is subtracted in two parts, of which the
 * first has few bits, r is exact enough up to {@link #MOST}. Larger arguments, and NaN, are left to {@link Math}. The
 * loops have no branches, so that the JIT vectorises them, and each function has its own, which it inlines.
 */
public final class FloatSines {
    /** Up to here n, of 20 bits with its half, times the first part of π, of 33 bits, is exact in float64. */
    private static final float MOST = 0x1p20f;
    private static final int MOST_BITS = Float.floatToRawIntBits(MOST);
    private static final double PI_HIGH = 2 * 1.5707963267341256;
    private static final double PI_LOW = 2 * 6.077100506506192E-11;
    private static final double BY_PI = 1 / Math.PI;
    /** Adding and subtracting it rounds to a whole number. */
    private static final double ROUND = 0x1.8p52;

    private FloatSines() {
    }

    /** Sines; the arrays may be the same, and have room for {@code 64} or more. */
    static void sin(float[] x, float[] y, int count) {
        if (hasOthers(x, count)) {
            for (int i = 0; i < count; i++) {
                y[i] = (float) sinOfAny(x[i]);
            }
            return;
        }
        int n = Math.max(count, FloatLoops.LEAST_OF_SLOW);
        for (int i = 0; i < n; i++) {
            y[i] = (float) sin(x[i]);
        }
    }

    /** Cosines; the arrays may be the same, and have room for {@code 64} or more. */
    static void cos(float[] x, float[] y, int count) {
        if (hasOthers(x, count)) {
            for (int i = 0; i < count; i++) {
                y[i] = (float) cosOfAny(x[i]);
            }
            return;
        }
        int n = Math.max(count, FloatLoops.LEAST_OF_SLOW);
        for (int i = 0; i < n; i++) {
            y[i] = (float) cos(x[i]);
        }
    }

    /**
     * The gradient of the sine.
     *
     * @param x
     *            the arguments, with room for {@code 64} or more
     * @param dy
     *            the result's gradient, with room for as many
     * @param dx
     *            gets the argument's gradient, and anything after it
     * @param count
     *            how many
     */
    public static void sinGrad(float[] x, float[] dy, float[] dx, int count) {
        if (hasOthers(x, count)) {
            for (int i = 0; i < count; i++) {
                dx[i] = (float) (dy[i] * cosOfAny(x[i]));
            }
            return;
        }
        int n = Math.max(count, FloatLoops.LEAST_OF_SLOW);
        for (int i = 0; i < n; i++) {
            dx[i] = (float) (dy[i] * cos(x[i]));
        }
    }

    /**
     * The gradient of the cosine.
     *
     * @param x
     *            the arguments, with room for {@code 64} or more
     * @param dy
     *            the result's gradient, with room for as many
     * @param dx
     *            gets the argument's gradient, and anything after it
     * @param count
     *            how many
     */
    public static void cosGrad(float[] x, float[] dy, float[] dx, int count) {
        if (hasOthers(x, count)) {
            for (int i = 0; i < count; i++) {
                dx[i] = (float) (dy[i] * -sinOfAny(x[i]));
            }
            return;
        }
        int n = Math.max(count, FloatLoops.LEAST_OF_SLOW);
        for (int i = 0; i < n; i++) {
            dx[i] = (float) (dy[i] * -sin(x[i]));
        }
    }

    private static double sinOfAny(float x) {
        return Math.abs(x) <= MOST ? sin(x) : Math.sin(x);
    }

    private static double cosOfAny(float x) {
        return Math.abs(x) <= MOST ? cos(x) : Math.cos(x);
    }

    /** Whether a magnitude is above the largest that the loops compute, or NaN: then a difference is negative. */
    private static boolean hasOthers(float[] x, int n) {
        int signs = 0;
        for (int i = 0; i < n; i++) {
            signs |= MOST_BITS - (Float.floatToRawIntBits(x[i]) & Integer.MAX_VALUE);
        }
        return signs < 0;
    }

    private static double sin(double x) {
        double n = x * BY_PI + ROUND - ROUND;
        return alternate(x - n * PI_HIGH - n * PI_LOW, n);
    }

    private static double cos(double x) {
        double n = x * BY_PI - 0.5 + ROUND - ROUND;
        double half = n + 0.5;
        return alternate(half * PI_HIGH - x + half * PI_LOW, n);
    }

    /** The sine of r, negated for an odd n. */
    private static double alternate(double r, double n) {
        double s = r * r;
        double p = 1.5502399605442094e-10 * s - 2.503673893152793e-8;
        p = p * s + 2.7557123057703568e-6;
        p = p * s - 1.98412687081561e-4;
        p = p * s + 8.333333330937984e-3;
        p = p * s - 0.16666666666658458;
        // Half a number less that rounded is 0 for an even one and a half, of either sign, for an odd one.
        double half = n * 0.5 - (n * 0.5 + ROUND - ROUND);
        return r * (1 + s * p) * (1 - 8 * half * half);
    }
}

package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.numerics.Power;

/**
 * Powers of float32. Those with the exponents ±½ and small whole numbers are products, roots and quotients in double,
 * rounded once, which gives the value of {@link Power} but for the last bit in the rarest cases, and its special
 * values. An element's power depends on nothing but the element and its exponent: a tile with one exponent only has
 * faster loops of the same arithmetic.
 */
public final class FloatPowers {
    private static final int MOST = 16;

    private FloatPowers() {
    }

    /**
     * Powers with an exponent for each element.
     *
     * @param x
     *            the bases
     * @param exponents
     *            the exponents
     * @param out
     *            gets the powers
     * @param count
     *            how many
     */
    public static void run(float[] x, float[] exponents, float[] out, int count) {
        if (count == 0 || !isRepeated(exponents, count)) {
            each(x, exponents, out, count);
        } else {
            run(x, exponents[0], out, count);
        }
    }

    /**
     * Powers with one exponent.
     *
     * @param x
     *            the bases
     * @param exponent
     *            the exponent
     * @param out
     *            gets the powers
     * @param count
     *            how many
     */
    public static void run(float[] x, float exponent, float[] out, int count) {
        if (!isSimple(exponent)) {
            for (int i = 0; i < count; i++) {
                out[i] = (float) Power.of(x[i], exponent);
            }
            return;
        }
        if (exponent == 0.5f || exponent == -0.5f) {
            root(x, exponent < 0, out, count);
            return;
        }
        switch ((int) exponent) {
            case -1 -> inverse(x, out, count);
            case 1 -> System.arraycopy(x, 0, out, 0, count);
            case 2 -> square(x, out, count);
            case 3 -> cube(x, out, count);
            case 4 -> fourth(x, out, count);
            default -> wholes(x, (int) exponent, out, count);
        }
    }

    private static boolean isSimple(float exponent) {
        return exponent == 0.5f || exponent == -0.5f || (Math.abs(exponent) <= MOST && (int) exponent == exponent);
    }

    private static boolean isRepeated(float[] exponents, int count) {
        for (int i = 1; i < count; i++) {
            if (exponents[i] != exponents[0]) {
                return false;
            }
        }
        return true;
    }

    private static void each(float[] x, float[] exponents, float[] out, int count) {
        for (int i = 0; i < count; i++) {
            out[i] = of(x[i], exponents[i]);
        }
    }

    /** A single power. */
    static float of(float x, float exponent) {
        return (float) unrounded(x, exponent);
    }

    /**
     * A single power in double, of which these functions give the nearest float.
     *
     * @param x
     *            the base
     * @param exponent
     *            the exponent
     * @return the power
     */
    public static double unrounded(float x, float exponent) {
        if (!isSimple(exponent)) {
            return Power.of(x, exponent);
        }
        if (exponent != 0.5f && exponent != -0.5f) {
            return whole(x, (int) exponent);
        }
        double root = x == Float.NEGATIVE_INFINITY ? Double.POSITIVE_INFINITY : Math.sqrt(x) + 0.0;
        return exponent < 0 ? 1 / root : root;
    }

    private static void root(float[] x, boolean inverse, float[] out, int n) {
        boolean infinite = false;
        for (int i = 0; i < n; i++) {
            infinite |= x[i] == Float.NEGATIVE_INFINITY;
        }
        if (infinite) {
            // Whose root is +∞ by the rules of powers, and NaN by those of roots.
            for (int i = 0; i < n; i++) {
                out[i] = of(x[i], inverse ? -0.5f : 0.5f);
            }
        } else if (inverse) {
            inverseRoots(x, out, n);
        } else {
            roots(x, out, n);
        }
    }

    /** Adding 0 makes a negative zero, which is its own root, positive, as its power is. */
    private static void roots(float[] x, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = (float) (Math.sqrt(x[i]) + 0.0);
        }
    }

    private static void inverseRoots(float[] x, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = (float) (1 / (Math.sqrt(x[i]) + 0.0));
        }
    }

    private static void inverse(float[] x, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = 1 / x[i];
        }
    }

    private static void square(float[] x, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] * x[i];
        }
    }

    private static void cube(float[] x, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            double value = x[i];
            out[i] = (float) (value * value * value);
        }
    }

    private static void fourth(float[] x, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            double square = (double) x[i] * x[i];
            out[i] = (float) (square * square);
        }
    }

    private static void wholes(float[] x, int exponent, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = (float) whole(x[i], exponent);
        }
    }

    /**
     * The square of a float is exact in double, the cube rounded once, and neither a product nor a reciprocal
     * overflows, or loses digits to denormal numbers, where the result as a float would not.
     */
    private static double whole(double x, int exponent) {
        double power = 1;
        double base = x;
        for (int left = Math.abs(exponent); left != 0; left >>= 1) {
            power = (left & 1) != 0 ? power * base : power;
            base *= base;
        }
        return exponent < 0 ? 1 / power : power;
    }
}

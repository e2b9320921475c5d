package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.kernel.KernelContext;

/**
 * The error function of float32, within 2 units in the last place. Up to 1 it is x + x P(x²), from there to 4 a
 * polynomial Q of the magnitude, and beyond 4 it is 1 in float32. The coefficients are least-squares fits, reweighted
 * until the largest error was least; their own errors are 1e-9 and 9e-9. Both polynomials are computed for every
 * element, in several short loops without choices, so that the JIT vectorises them.
 */
public final class FloatErf {
    private static final float TURN = 1;
    private static final float SATURATED = 4;
    private static final float MIDDLE = (TURN + SATURATED) / 2;
    private static final float BY_HALF_WIDTH = 2 / (SATURATED - TURN);
    /** The largest argument below that of which the result is exactly 1. */
    private static final float LAST = 3.9999998f;
    private static final float HUGE = 1e30f;
    private static final ThreadLocal<float[]> SMALL = ThreadLocal.withInitial(() -> new float[KernelContext.TILE]);
    private static final ThreadLocal<float[]> LARGE = ThreadLocal.withInitial(() -> new float[KernelContext.TILE]);

    private FloatErf() {
    }

    /**
     * Computes {@code n} values, at most a tile; the arrays may be the same.
     *
     * @param x
     *            the arguments
     * @param y
     *            gets the results
     * @param n
     *            how many
     */
    public static void run(float[] x, float[] y, int n) {
        float[] small = SMALL.get();
        float[] large = LARGE.get();
        small(x, small, n);
        beginLarge(x, large, n);
        endLarge(x, large, n);
        choose(x, small, large, y, n);
    }

    private static void small(float[] x, float[] small, int n) {
        for (int i = 0; i < n; i++) {
            float value = Math.min(Math.max(x[i], -SATURATED), SATURATED);
            float square = value * value;
            float p = 7.889115e-05f * square - 0.000802084f;
            p = p * square + 0.005189535f;
            p = p * square - 0.026854444f;
            p = p * square + 0.112836f;
            p = p * square - 0.37612626f;
            p = p * square + 0.12837917f;
            small[i] = value + value * p;
        }
    }

    private static void beginLarge(float[] x, float[] large, int n) {
        for (int i = 0; i < n; i++) {
            float u = (Math.min(Math.abs(x[i]), SATURATED) - MIDDLE) * BY_HALF_WIDTH;
            float q = 0.00026160644f * u + 9.912501e-05f;
            q = q * u - 0.0020458333f;
            q = q * u + 0.0015294305f;
            q = q * u + 0.0046856566f;
            q = q * u - 0.010395017f;
            q = q * u + 0.006624585f;
            large[i] = q * u + 0.009569226f;
        }
    }

    private static void endLarge(float[] x, float[] large, int n) {
        for (int i = 0; i < n; i++) {
            float u = (Math.min(Math.abs(x[i]), SATURATED) - MIDDLE) * BY_HALF_WIDTH;
            float q = large[i] * u - 0.031863555f;
            q = q * u + 0.04639252f;
            q = q * u - 0.04365235f;
            q = q * u + 0.02818704f;
            q = q * u - 0.012252772f;
            q = q * u + 0.0032672833f;
            large[i] = q * u + 0.999593f;
        }
    }

    /**
     * Takes the first below the turn, which is a factor of 1 or 0, and else the second, which is exactly 1 from 4 on.
     */
    private static void choose(float[] x, float[] small, float[] large, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            float magnitude = Math.min(Math.abs(x[i]), SATURATED);
            float below = Math.min(Math.max((TURN - magnitude) * HUGE, 0), 1);
            float sign = Math.min(Math.max(x[i] * HUGE, -1), 1);
            float end = Math.min(large[i] + Math.max((magnitude - LAST) * HUGE, 0), 1);
            y[i] = below * small[i] + (1 - below) * sign * end;
        }
    }
}

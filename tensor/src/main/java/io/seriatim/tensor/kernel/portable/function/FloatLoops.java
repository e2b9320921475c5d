package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;

/**
 * Functions over tiles of floats, with a loop for each cheap function, which the JIT vectorises. It does so only for
 * loops that ran long in the profile. So a loop over few elements computes more of them, whose values are ignored:
 * otherwise a program that begins with small tensors would stay slow with large ones.
 */
public final class FloatLoops {
    /**
     * The fewest elements that a loop computes; arrays are not shorter. The JIT does not unroll shorter loops enough.
     */
    public static final int LEAST = 192;
    /** The bits of infinity. */
    private static final int INFINITY = 0x7f800000;
    /** The number of the sign bit. */
    private static final int SIGN = 31;
    // For loops with slow instructions, which gain nothing from unrolling.
    static final int LEAST_OF_SLOW = 64;

    private FloatLoops() {
    }

    /**
     * A function of one element.
     *
     * @param function
     *            which
     * @param alpha
     *            its first parameter
     * @param beta
     *            its second parameter
     * @param x
     *            the values, with room for {@link #LEAST} or more
     * @param y
     *            gets the results, and anything after them; may be {@code x}
     * @param count
     *            the number of elements
     */
    public static void unary(Unary.Function function, float alpha, float beta, float[] x, float[] y, int count) {
        int n = Math.max(count, LEAST);
        int slow = Math.max(count, LEAST_OF_SLOW);
        switch (function) {
            case RELU -> relu(x, y, n);
            case LEAKY_RELU -> leakyRelu(alpha, x, y, slow);
            case CLIP -> clip(alpha, beta, x, y, n);
            case HARD_SIGMOID -> hardSigmoid(alpha, beta, x, y, n);
            case SQRT -> sqrt(x, y, slow);
            case SQUARE -> square(x, y, n);
            case ABS -> abs(x, y, n);
            case LINEAR -> linear(alpha, beta, x, y, n);
            case NEGATE -> negate(x, y, n);
            case RECIPROCAL -> reciprocal(x, y, slow);
            case ROUND -> round(x, y, slow);
            case FLOOR -> floor(x, y, slow);
            case CEIL -> ceil(x, y, slow);
            case SIGN -> sign(x, y, slow);
            case LOGICAL_NOT -> not(x, y, n);
            case IS_NAN -> isNaN(x, y, n);
            case IS_INF -> isInfinite(x, y, n);
            case IS_FINITE -> isFinite(x, y, n);
            case POW -> FloatPowers.run(x, alpha, y, count);
            case ERF -> FloatErf.run(x, y, slow);
            case SIN -> FloatSines.sin(x, y, count);
            case COS -> FloatSines.cos(x, y, count);
            default -> other(function, alpha, beta, x, y, count);
        }
    }

    private static void relu(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = Math.max(x[i], 0);
        }
    }

    private static void leakyRelu(float alpha, float[] x, float[] y, int n) {
        if (alpha > 0 && Float.isFinite(alpha)) {
            // The same to the bit, without a branch: the JIT makes vector instructions of it.
            for (int i = 0; i < n; i++) {
                y[i] = Math.max(x[i], -0f) + Math.min(x[i], 0) * alpha;
            }
            return;
        }
        for (int i = 0; i < n; i++) {
            y[i] = x[i] < 0 ? alpha * x[i] : x[i];
        }
    }

    private static void clip(float least, float most, float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = Math.min(Math.max(x[i], least), most);
        }
    }

    private static void hardSigmoid(float alpha, float beta, float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = Math.min(Math.max(alpha * x[i] + beta, 0), 1);
        }
    }

    private static void sqrt(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = (float) Math.sqrt(x[i]);
        }
    }

    private static void square(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = x[i] * x[i];
        }
    }

    private static void abs(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = Math.abs(x[i]);
        }
    }

    private static void linear(float alpha, float beta, float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = alpha * x[i] + beta;
        }
    }

    private static void negate(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = -x[i];
        }
    }

    private static void reciprocal(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = 1 / x[i];
        }
    }

    private static void round(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = (float) Math.rint(x[i]);
        }
    }

    private static void floor(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = (float) Math.floor(x[i]);
        }
    }

    private static void ceil(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = (float) Math.ceil(x[i]);
        }
    }

    private static void sign(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = Math.signum(x[i]);
        }
    }

    private static void not(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = ((Float.floatToRawIntBits(x[i]) & Integer.MAX_VALUE) - 1) >>> SIGN;
        }
    }

    private static void isNaN(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            y[i] = isNaN(Float.floatToRawIntBits(x[i]));
        }
    }

    private static void isInfinite(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            int bits = Float.floatToRawIntBits(x[i]) & Integer.MAX_VALUE;
            y[i] = ((bits ^ INFINITY) - 1) >>> SIGN;
        }
    }

    private static void isFinite(float[] x, float[] y, int n) {
        for (int i = 0; i < n; i++) {
            int bits = Float.floatToRawIntBits(x[i]) & Integer.MAX_VALUE;
            y[i] = (bits - INFINITY) >>> SIGN;
        }
    }

    private static void other(Unary.Function function, float alpha, float beta, float[] x, float[] y, int count) {
        for (int i = 0; i < count; i++) {
            y[i] = (float) UnaryFunctions.apply(function, x[i], alpha, beta);
        }
    }

    /**
     * The gradient of the maximum with 0, from the function's input or result. It is a product with dy, so that 0 takes
     * the sign of dy, and 0 times an infinite dy is NaN.
     *
     * @param x
     *            the input or the result
     * @param dy
     *            the result's gradient
     * @param dx
     *            gets the input's gradient
     * @param count
     *            how many
     */
    public static void reluGrad(float[] x, float[] dy, float[] dx, int count) {
        int n = Math.max(count, LEAST_OF_SLOW);
        for (int i = 0; i < n; i++) {
            // 1 where x > 0, else 0, without a branch, which would often be mispredicted: the factor makes the least
            // positive number at least 1, and NaN becomes 0.
            int step = Math.max(0, Math.min(1, (int) (x[i] * 0x1p100f * 0x1p100f)));
            dx[i] = dy[i] * step;
        }
    }

    /**
     * The gradient of the logistic function, from its result.
     *
     * @param y
     *            the result
     * @param dy
     *            the result's gradient
     * @param dx
     *            gets the input's gradient
     * @param count
     *            how many
     */
    public static void sigmoidGrad(float[] y, float[] dy, float[] dx, int count) {
        int n = Math.max(count, LEAST_OF_SLOW);
        for (int i = 0; i < n; i++) {
            dx[i] = dy[i] * (y[i] * (1 - y[i]));
        }
    }

    /**
     * The gradient of the hyperbolic tangent, from its result: as a product, since the square loses digits near 1.
     *
     * @param y
     *            the result
     * @param dy
     *            the result's gradient
     * @param dx
     *            gets the input's gradient
     * @param count
     *            how many
     */
    public static void tanhGrad(float[] y, float[] dy, float[] dx, int count) {
        int n = Math.max(count, LEAST_OF_SLOW);
        for (int i = 0; i < n; i++) {
            dx[i] = dy[i] * ((1 - y[i]) * (1 + y[i]));
        }
    }

    /**
     * A function of two elements.
     *
     * @param function
     *            which
     * @param x
     *            left operands, with room for {@link #LEAST} or more
     * @param y
     *            right operands, with room for as many
     * @param out
     *            gets the results, and anything after them; may be one of the operands
     * @param count
     *            the number of elements
     */
    public static void binary(Binary.Function function, float[] x, float[] y, float[] out, int count) {
        int n = Math.max(count, LEAST);
        switch (function) {
            case ADD -> add(x, y, out, n);
            case SUBTRACT -> subtract(x, y, out, n);
            case MULTIPLY -> multiply(x, y, out, n);
            case DIVIDE -> divide(x, y, out, Math.max(count, LEAST_OF_SLOW));
            case MAXIMUM -> maximum(x, y, out, n);
            case MINIMUM -> minimum(x, y, out, n);
            case PRELU -> prelu(x, y, out, n);
            case POWER -> FloatPowers.run(x, y, out, count);
            case EQUAL -> equal(x, y, out, 1, n);
            case NOT_EQUAL -> equal(x, y, out, 0, n);
            case LESS -> less(x, y, out, n);
            case GREATER -> less(y, x, out, n);
            case LESS_EQUAL -> lessEqual(x, y, out, n);
            case GREATER_EQUAL -> lessEqual(y, x, out, n);
            default -> other(function, x, y, out, count);
        }
    }

    /**
     * The first of two values where a condition is not 0, else the second.
     *
     * @param condition
     *            the conditions
     * @param x
     *            the first values
     * @param y
     *            the second ones
     * @param out
     *            gets the chosen ones
     * @param count
     *            how many
     */
    public static void select(float[] condition, float[] x, float[] y, float[] out, int count) {
        int n = Math.max(count, LEAST_OF_SLOW);
        for (int i = 0; i < n; i++) {
            out[i] = condition[i] != 0 ? x[i] : y[i];
        }
    }

    private static void add(float[] x, float[] y, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] + y[i];
        }
    }

    private static void subtract(float[] x, float[] y, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] - y[i];
        }
    }

    private static void multiply(float[] x, float[] y, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] * y[i];
        }
    }

    private static void divide(float[] x, float[] y, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] / y[i];
        }
    }

    private static void maximum(float[] x, float[] y, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = Math.max(x[i], y[i]);
        }
    }

    private static void minimum(float[] x, float[] y, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = Math.min(x[i], y[i]);
        }
    }

    private static void prelu(float[] x, float[] y, float[] out, int n) {
        // A sum of two parts, of which one is 0: the JIT makes a branch of a choice.
        for (int i = 0; i < n; i++) {
            out[i] = Math.max(x[i], -0f) + Math.min(x[i], 0) * y[i];
        }
    }

    // Without choices, of which the JIT makes branches that no processor predicts.
    private static void equal(float[] x, float[] y, float[] out, int flip, int n) {
        for (int i = 0; i < n; i++) {
            // The sum turns −0 into 0.
            int left = Float.floatToRawIntBits(x[i] + 0f);
            int differences = left ^ Float.floatToRawIntBits(y[i] + 0f);
            int other = ((differences | -differences) >>> SIGN) | isNaN(left);
            out[i] = other ^ flip;
        }
    }

    private static void less(float[] x, float[] y, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = isPositive(y[i] - x[i]);
        }
    }

    private static void lessEqual(float[] x, float[] y, float[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = 1 - (isPositive(x[i] - y[i]) | isNaN(Float.floatToRawIntBits(x[i]))
                    | isNaN(Float.floatToRawIntBits(y[i])));
        }
    }

    /** 1 for a number above 0, also infinity; 0 for another one and for NaN, the difference of equal infinities. */
    private static int isPositive(float x) {
        int before = Float.floatToRawIntBits(x) - 1;
        return (~before & (before - INFINITY)) >>> SIGN;
    }

    private static int isNaN(int bits) {
        return (INFINITY - (bits & Integer.MAX_VALUE)) >>> SIGN;
    }

    private static void other(Binary.Function function, float[] x, float[] y, float[] out, int count) {
        for (int i = 0; i < count; i++) {
            out[i] = (float) BinaryFunctions.apply(function, x[i], y[i]);
        }
    }
}

package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.Unary;

/** Functions over tiles of floats: a loop of its own for each cheap one, which the JIT compiles to vector instructions. */
public final class FloatLoops {
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
     *            the values
     * @param y
     *            gets the results; may be {@code x}
     * @param n
     *            how many
     */
    public static void unary(Unary.Function function, float alpha, float beta, float[] x, float[] y, int n) {
        switch (function) {
            case RELU -> {
                for (int i = 0; i < n; i++) {
                    y[i] = Math.max(x[i], 0);
                }
            }
            case LEAKY_RELU -> {
                for (int i = 0; i < n; i++) {
                    y[i] = x[i] < 0 ? alpha * x[i] : x[i];
                }
            }
            case CLIP -> {
                for (int i = 0; i < n; i++) {
                    y[i] = Math.min(Math.max(x[i], alpha), beta);
                }
            }
            case HARD_SIGMOID -> {
                for (int i = 0; i < n; i++) {
                    y[i] = Math.min(Math.max(alpha * x[i] + beta, 0), 1);
                }
            }
            case SQRT -> {
                for (int i = 0; i < n; i++) {
                    y[i] = (float) Math.sqrt(x[i]);
                }
            }
            case SQUARE -> {
                for (int i = 0; i < n; i++) {
                    y[i] = x[i] * x[i];
                }
            }
            case ABS -> {
                for (int i = 0; i < n; i++) {
                    y[i] = Math.abs(x[i]);
                }
            }
            case LINEAR -> {
                for (int i = 0; i < n; i++) {
                    y[i] = alpha * x[i] + beta;
                }
            }
            case NEGATE -> {
                for (int i = 0; i < n; i++) {
                    y[i] = -x[i];
                }
            }
            case RECIPROCAL -> {
                for (int i = 0; i < n; i++) {
                    y[i] = 1 / x[i];
                }
            }
            default -> {
                for (int i = 0; i < n; i++) {
                    y[i] = (float) UnaryFunctions.apply(function, x[i], alpha, beta);
                }
            }
        }
    }

    /**
     * A function of two elements.
     *
     * @param function
     *            which
     * @param x
     *            left operands
     * @param y
     *            right operands
     * @param out
     *            gets the results; may be one of the operands
     * @param n
     *            how many
     */
    public static void binary(Binary.Function function, float[] x, float[] y, float[] out, int n) {
        switch (function) {
            case ADD -> {
                for (int i = 0; i < n; i++) {
                    out[i] = x[i] + y[i];
                }
            }
            case SUBTRACT -> {
                for (int i = 0; i < n; i++) {
                    out[i] = x[i] - y[i];
                }
            }
            case MULTIPLY -> {
                for (int i = 0; i < n; i++) {
                    out[i] = x[i] * y[i];
                }
            }
            case DIVIDE -> {
                for (int i = 0; i < n; i++) {
                    out[i] = x[i] / y[i];
                }
            }
            case MAXIMUM -> {
                for (int i = 0; i < n; i++) {
                    out[i] = Math.max(x[i], y[i]);
                }
            }
            case MINIMUM -> {
                for (int i = 0; i < n; i++) {
                    out[i] = Math.min(x[i], y[i]);
                }
            }
            default -> {
                for (int i = 0; i < n; i++) {
                    out[i] = (float) BinaryFunctions.apply(function, x[i], y[i]);
                }
            }
        }
    }
}

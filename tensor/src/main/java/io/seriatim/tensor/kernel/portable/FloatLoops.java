package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.Unary;

/** Functions over tiles of floats: a loop of its own for each cheap one, which the JIT compiles to vector instructions. */
final class FloatLoops {
    private FloatLoops() {
    }

    static void unary(Unary.Function function, float alpha, float beta, float[] x, float[] y, int n) {
        switch (function) {
            case RELU -> {
                for (int i = 0; i < n; i++) {
                    // Not Math.max: a NaN must stay one, and -0 is not below 0.
                    y[i] = x[i] < 0 ? 0 : x[i];
                }
            }
            case LEAKY_RELU -> {
                for (int i = 0; i < n; i++) {
                    y[i] = x[i] < 0 ? alpha * x[i] : x[i];
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

    static void binary(Binary.Function function, float[] x, float[] y, float[] out, int n) {
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

package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.computation.Binary;

/** Functions over tiles of doubles, with a loop for each cheap function, which the JIT vectorises. */
public final class DoubleLoops {
    private DoubleLoops() {
    }

    /** A function of two elements; the results may go into one of the operands. */
    public static void binary(Binary.Function function, double[] x, double[] y, double[] out, int count) {
        switch (function) {
            case ADD -> add(x, y, out, count);
            case SUBTRACT -> subtract(x, y, out, count);
            case MULTIPLY -> multiply(x, y, out, count);
            case DIVIDE -> divide(x, y, out, count);
            case MAXIMUM -> maximum(x, y, out, count);
            case MINIMUM -> minimum(x, y, out, count);
            default -> other(function, x, y, out, count);
        }
    }

    private static void add(double[] x, double[] y, double[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] + y[i];
        }
    }

    private static void subtract(double[] x, double[] y, double[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] - y[i];
        }
    }

    private static void multiply(double[] x, double[] y, double[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] * y[i];
        }
    }

    private static void divide(double[] x, double[] y, double[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] / y[i];
        }
    }

    private static void maximum(double[] x, double[] y, double[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = Math.max(x[i], y[i]);
        }
    }

    private static void minimum(double[] x, double[] y, double[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = Math.min(x[i], y[i]);
        }
    }

    private static void other(Binary.Function function, double[] x, double[] y, double[] out, int count) {
        for (int i = 0; i < count; i++) {
            out[i] = BinaryFunctions.apply(function, x[i], y[i]);
        }
    }
}

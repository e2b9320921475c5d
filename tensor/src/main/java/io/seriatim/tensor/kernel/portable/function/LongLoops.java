package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.computation.Binary;

/** Functions over tiles of whole numbers, with a loop for each cheap function, which the JIT vectorises. */
public final class LongLoops {
    private static final int SIGN = Long.SIZE - 1;

    private LongLoops() {
    }

    /** Whether it has a loop for a function of two elements, which then has run. */
    public static boolean binary(Binary.Function function, boolean unsigned, long[] x, long[] y, long[] out,
            int count) {
        switch (function) {
            case ADD -> add(x, y, out, count);
            case SUBTRACT -> subtract(x, y, out, count);
            case MULTIPLY -> multiply(x, y, out, count);
            case BITWISE_AND -> and(x, y, out, count);
            case BITWISE_OR -> or(x, y, out, count);
            case BITWISE_XOR -> xor(x, y, out, count);
            case EQUAL -> equal(x, y, out, count);
            case NOT_EQUAL -> notEqual(x, y, out, count);
            case LOGICAL_AND -> both(x, y, out, count);
            case LOGICAL_OR -> either(x, y, out, count);
            case LOGICAL_XOR -> one(x, y, out, count);
            default -> {
                return !unsigned && signed(function, x, y, out, count);
            }
        }
        return true;
    }

    /** The first of two values where a condition is not 0, else the second. */
    public static void select(long[] condition, long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            long chosen = -isSet(condition[i]);
            out[i] = y[i] ^ ((x[i] ^ y[i]) & chosen);
        }
    }

    private static boolean signed(Binary.Function function, long[] x, long[] y, long[] out, int count) {
        switch (function) {
            case MAXIMUM -> maximum(x, y, out, count);
            case MINIMUM -> minimum(x, y, out, count);
            case LESS -> less(x, y, out, count);
            case LESS_EQUAL -> lessEqual(x, y, out, count);
            case GREATER -> less(y, x, out, count);
            case GREATER_EQUAL -> lessEqual(y, x, out, count);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void add(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] + y[i];
        }
    }

    private static void subtract(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] - y[i];
        }
    }

    private static void multiply(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] * y[i];
        }
    }

    private static void and(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] & y[i];
        }
    }

    private static void or(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] | y[i];
        }
    }

    private static void xor(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = x[i] ^ y[i];
        }
    }

    private static void equal(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = 1 - isSet(x[i] ^ y[i]);
        }
    }

    private static void notEqual(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = isSet(x[i] ^ y[i]);
        }
    }

    private static void both(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = isSet(x[i]) & isSet(y[i]);
        }
    }

    private static void either(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = isSet(x[i] | y[i]);
        }
    }

    private static void one(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = isSet(x[i]) ^ isSet(y[i]);
        }
    }

    private static void maximum(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = Math.max(x[i], y[i]);
        }
    }

    private static void minimum(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = Math.min(x[i], y[i]);
        }
    }

    private static void less(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = isLess(x[i], y[i]);
        }
    }

    private static void lessEqual(long[] x, long[] y, long[] out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = 1 - isLess(y[i], x[i]);
        }
    }

    // Without choices, of which the JIT makes branches that no processor predicts.
    private static long isSet(long x) {
        return (x | -x) >>> SIGN;
    }

    private static long isLess(long x, long y) {
        // The sign of the difference, unless that overflows.
        return ((x & ~y) | (~(x ^ y) & (x - y))) >>> SIGN;
    }
}

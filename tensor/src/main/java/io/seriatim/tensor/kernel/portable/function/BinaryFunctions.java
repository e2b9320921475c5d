package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.computation.Binary;

/** The functions of two elements. */
public final class BinaryFunctions {
    private BinaryFunctions() {
    }

    public static double apply(Binary.Function function, double x, double y) {
        return switch (function) {
            case ADD -> x + y;
            case SUBTRACT -> x - y;
            case MULTIPLY -> x * y;
            case DIVIDE -> x / y;
            case MAXIMUM -> Math.max(x, y);
            case MINIMUM -> Math.min(x, y);
            case POWER -> Math.pow(x, y);
            case MODULO -> modulo(x, y);
            case FLOOR_DIVIDE -> Math.floor(x / y);
            case EQUAL -> x == y ? 1 : 0;
            case NOT_EQUAL -> x != y ? 1 : 0;
            case LESS -> x < y ? 1 : 0;
            case LESS_EQUAL -> x <= y ? 1 : 0;
            case GREATER -> x > y ? 1 : 0;
            case GREATER_EQUAL -> x >= y ? 1 : 0;
            case LOGICAL_AND -> x != 0 && y != 0 ? 1 : 0;
            case LOGICAL_OR -> x != 0 || y != 0 ? 1 : 0;
            case LOGICAL_XOR -> x != 0 != (y != 0) ? 1 : 0;
        };
    }

    /** With the divisor's sign. */
    private static double modulo(double x, double y) {
        double rest = x % y;
        return rest != 0 && rest < 0 != y < 0 ? rest + y : rest;
    }

    public static long apply(Binary.Function function, long x, long y) {
        return switch (function) {
            case ADD -> x + y;
            case SUBTRACT -> x - y;
            case MULTIPLY -> x * y;
            case DIVIDE -> divide(x, y, x / nonZero(y));
            case MAXIMUM -> Math.max(x, y);
            case MINIMUM -> Math.min(x, y);
            case POWER -> power(x, y);
            case MODULO -> Math.floorMod(x, nonZero(y));
            case FLOOR_DIVIDE -> Math.floorDiv(x, nonZero(y));
            default -> apply(function, (double) Long.compare(x, y), x, y);
        };
    }

    /** Comparisons look at the order of two numbers, logic at whether they are zero. */
    private static long apply(Binary.Function function, double order, long x, long y) {
        return switch (function) {
            case LOGICAL_AND -> x != 0 && y != 0 ? 1 : 0;
            case LOGICAL_OR -> x != 0 || y != 0 ? 1 : 0;
            case LOGICAL_XOR -> x != 0 != (y != 0) ? 1 : 0;
            default -> (long) apply(function, order, 0.0);
        };
    }

    private static long divide(long x, long y, long quotient) {
        return y == -1 ? -x : quotient;
    }

    private static long nonZero(long y) {
        if (y == 0) {
            throw new IllegalArgumentException(
                    "A whole number cannot be divided by zero: check the divisor, or compute in a floating-point type");
        }
        return y;
    }

    private static long power(long x, long y) {
        if (y < 0) {
            throw new IllegalArgumentException(
                    "A whole number has no power of a negative exponent, here " + y
                            + ": compute in a floating-point type");
        }
        long result = 1;
        long base = x;
        for (long exponent = y; exponent > 0; exponent >>= 1) {
            result *= (exponent & 1) != 0 ? base : 1;
            base *= base;
        }
        return result;
    }
}

package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.numerics.Power;

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
            case PRELU -> Math.max(x, -0.0) + Math.min(x, 0) * y;
            case POWER -> Power.of(x, y);
            case MODULO -> modulo(x, y);
            case REMAINDER -> x % y;
            case FLOOR_DIVIDE -> floorDivide(x, y);
            case EQUAL -> x == y ? 1 : 0;
            case NOT_EQUAL -> x != y ? 1 : 0;
            case LESS -> x < y ? 1 : 0;
            case LESS_EQUAL -> x <= y ? 1 : 0;
            case GREATER -> x > y ? 1 : 0;
            case GREATER_EQUAL -> x >= y ? 1 : 0;
            case LOGICAL_AND -> x != 0 && y != 0 ? 1 : 0;
            case LOGICAL_OR -> x != 0 || y != 0 ? 1 : 0;
            case LOGICAL_XOR -> x != 0 != (y != 0) ? 1 : 0;
            case BITWISE_AND, BITWISE_OR, BITWISE_XOR, SHIFT_LEFT, SHIFT_RIGHT ->
                throw new IllegalArgumentException(function + " is of whole numbers or bool: cast the operands");
        };
    }

    /** Python's quotient: x less its remainder is a multiple of y, also where x / y is rounded or y is infinite. */
    private static double floorDivide(double x, double y) {
        double rest = x % y;
        if (y == 0 || Double.isNaN(rest)) {
            return y == 0 ? x / y : Double.NaN;
        }
        double quotient = (x - rest) / y;
        if (rest != 0 && rest < 0 != y < 0) {
            quotient -= 1;
        }
        double lower = Math.floor(quotient);
        return quotient == 0 ? Math.copySign(0, x / y) : quotient - lower > 0.5 ? lower + 1 : lower;
    }

    /** With the divisor's sign. */
    private static double modulo(double x, double y) {
        double rest = x % y;
        return rest != 0 && rest < 0 != y < 0 ? rest + y : rest;
    }

    /** Of all whole numbers but uint64, each in its own value. */
    public static long apply(Binary.Function function, long x, long y) {
        return switch (function) {
            case ADD -> x + y;
            case SUBTRACT -> x - y;
            case MULTIPLY -> x * y;
            case DIVIDE -> divide(x, y, x / nonZero(y));
            case MAXIMUM -> Math.max(x, y);
            case MINIMUM -> Math.min(x, y);
            case PRELU -> x < 0 ? x * y : x;
            case POWER -> power(x, y);
            case MODULO -> Math.floorMod(x, nonZero(y));
            case REMAINDER -> x % nonZero(y);
            case FLOOR_DIVIDE -> Math.floorDiv(x, nonZero(y));
            case BITWISE_AND -> x & y;
            case BITWISE_OR -> x | y;
            case BITWISE_XOR -> x ^ y;
            case SHIFT_LEFT -> isWithin(y) ? x << y : 0;
            case SHIFT_RIGHT -> x >> (isWithin(y) ? y : Long.SIZE - 1);
            default -> apply(function, (double) Long.compare(x, y), x, y);
        };
    }

    /** Of uint64, as their bits. */
    public static long applyUnsigned(Binary.Function function, long x, long y) {
        return switch (function) {
            case DIVIDE, FLOOR_DIVIDE -> Long.divideUnsigned(x, nonZero(y));
            case MODULO, REMAINDER -> Long.remainderUnsigned(x, nonZero(y));
            case MAXIMUM -> Long.compareUnsigned(x, y) >= 0 ? x : y;
            case MINIMUM -> Long.compareUnsigned(x, y) <= 0 ? x : y;
            case PRELU -> x;
            case POWER -> powerUnsigned(x, y);
            case SHIFT_RIGHT -> isWithin(y) ? x >>> y : 0;
            case EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL ->
                (long) apply(function, (double) Long.compareUnsigned(x, y), 0.0);
            default -> apply(function, x, y);
        };
    }

    /** Whether bits that are moved by so many places are not all lost. */
    private static boolean isWithin(long places) {
        return places >= 0 && places < Long.SIZE;
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
        return powerUnsigned(x, y);
    }

    /** Of whole numbers with or without a sign: the product of their bits is the same. */
    private static long powerUnsigned(long x, long y) {
        long result = 1;
        long base = x;
        for (long exponent = y; exponent != 0; exponent >>>= 1) {
            result *= (exponent & 1) != 0 ? base : 1;
            base *= base;
        }
        return result;
    }
}

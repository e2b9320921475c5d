package io.seriatim.graph.util;

/** The ranges of numbers that a user gives, with what is said when they are not kept. */
public final class Ranges {
    private Ranges() {
    }

    public static double finite(String what, double value) {
        return require(Double.isFinite(value), what + " is a finite number", value);
    }

    public static double notNegative(String what, double value) {
        return require(Double.isFinite(value) && value >= 0, what + " is a finite number from 0 on", value);
    }

    public static double positive(String what, double value) {
        return require(Double.isFinite(value) && value > 0, what + " is a finite number above 0", value);
    }

    /** How slowly a mean changes: with 1 it would not. */
    public static double decayRate(String what, double value) {
        return require(value >= 0 && value < 1, what + " is from 0 to below 1", value);
    }

    public static double probability(String what, double value) {
        return require(value >= 0 && value <= 1, what + " is from 0 to 1", value);
    }

    /** Numbers of operations are kept in 32 bits. */
    public static float float32(String what, double value) {
        require(Double.isInfinite(value) || !Float.isInfinite((float) value),
                what + " is kept as float32, whose largest number is " + Float.MAX_VALUE,
                value);
        return (float) value;
    }

    /** Whole numbers are kept in float32, too, and must survive that. */
    public static void whole(String what, String type, double value) {
        require(value == Math.rint(value) && (float) value == value,
                what + " of " + type
                        + " is a whole number that float32 can hold (cast the variable to a floating-point type "
                        + "for others)",
                value);
    }

    private static double require(boolean holds, String rule, double value) {
        if (!holds) {
            throw new IllegalArgumentException(rule + ", but it is " + value);
        }
        return value;
    }
}

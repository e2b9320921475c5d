package io.seriatim.graph.util;

/** Checks of the ranges of numbers that a user gives, and their messages. */
public final class Ranges {
    private Ranges() {
    }

    /**
     * Checks that a number is finite.
     *
     * @param what
     *            the name of the number, as the message begins
     * @param value
     *            the number
     * @return the number
     * @throws IllegalArgumentException
     *             if it is not
     */
    public static double finite(String what, double value) {
        return require(Double.isFinite(value), what + " is a finite number", value);
    }

    /**
     * Checks that a number is finite and not negative.
     *
     * @param what
     *            the name of the number, as the message begins
     * @param value
     *            the number
     * @return the number
     * @throws IllegalArgumentException
     *             if it is not
     */
    public static double notNegative(String what, double value) {
        return require(Double.isFinite(value) && value >= 0, what + " is a finite number from 0 on", value);
    }

    /**
     * Checks that a number is finite and above 0.
     *
     * @param what
     *            the name of the number, as the message begins
     * @param value
     *            the number
     * @return the number
     * @throws IllegalArgumentException
     *             if it is not
     */
    public static double positive(String what, double value) {
        return require(Double.isFinite(value) && value > 0, what + " is a finite number above 0", value);
    }

    /**
     * Checks the decay rate of a moving average: from 0 to below 1. With 1 the average would never change.
     *
     * @param what
     *            the name of the number, as the message begins
     * @param value
     *            the number
     * @return the number
     * @throws IllegalArgumentException
     *             if it is not
     */
    public static double decayRate(String what, double value) {
        return require(value >= 0 && value < 1, what + " is from 0 to below 1", value);
    }

    /**
     * Checks that a number is from 0 to 1.
     *
     * @param what
     *            the name of the number, as the message begins
     * @param value
     *            the number
     * @return the number
     * @throws IllegalArgumentException
     *             if it is not
     */
    public static double probability(String what, double value) {
        return require(value >= 0 && value <= 1, what + " is from 0 to 1", value);
    }

    /**
     * Checks that a number fits float32, in which attributes of operations are kept.
     *
     * @param what
     *            the name of the number, as the message begins
     * @param value
     *            the number
     * @return the number, rounded
     * @throws IllegalArgumentException
     *             if it is not
     */
    public static float float32(String what, double value) {
        require(Double.isInfinite(value) || !Float.isInfinite((float) value),
                what + " is kept as float32, whose largest number is " + Float.MAX_VALUE,
                value);
        return (float) value;
    }

    /**
     * Checks that float32, in which attributes are kept, holds a whole number exactly.
     *
     * @param what
     *            the name of the number, as the message begins
     * @param type
     *            of the elements that the number is for
     * @param value
     *            the number
     * @throws IllegalArgumentException
     *             if it is not
     */
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

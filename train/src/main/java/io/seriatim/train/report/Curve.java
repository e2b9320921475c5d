package io.seriatim.train.report;

/**
 * Values over the steps or the time of a training.
 *
 * @param name
 *            for people, such as {@code training}
 * @param at
 *            where each value is, finite and in ascending order
 * @param values
 *            one for each place; those that are not finite interrupt the line and are marked
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Curve(String name, double[] at, double[] values) {
    /** Copies the arrays. Fails if they differ in length, or if places are not in order. */
    public Curve {
        at = at.clone();
        values = values.clone();
        if (at.length != values.length) {
            throw new IllegalArgumentException(
                    "A curve has a value for each place, but '" + name + "' has " + at.length + " places and " + values.length + " values");
        }
        for (int i = 0; i < at.length; i++) {
            if (!Double.isFinite(at[i]) || (i > 0 && at[i] < at[i - 1])) {
                throw new IllegalArgumentException("The places of a curve must be finite and in ascending order, but '" + name + "' has "
                        + at[i] + (i == 0 ? "" : " after " + at[i - 1]));
            }
        }
    }

    /** The number of values. */
    int size() {
        return at.length;
    }
}

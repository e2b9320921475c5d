package io.seriatim.train.report;

import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.metrics.Curve;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Values over the steps or the time of a training, as a chart draws them. The page contains all values, so use at most
 * some thousands.
 *
 * @param name
 *            the name for display, such as {@code training}
 * @param style
 *            the style of drawing
 * @param at
 *            the position of each value, finite and in ascending order
 * @param values
 *            one value for each position; values that are not finite interrupt the line and are marked
 * @param least
 *            the minimum of the values that each value is the mean of
 * @param greatest
 *            the maximum of these values
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Series(String name, Style style, double[] at, double[] values, double[] least, double[] greatest) {
    /** The style of drawing. */
    public enum Style {
        /** The raw values faintly, and a smoothed line. */
        NOISY,
        /** As points with a line between them. */
        POINTS,
        /** As a line. */
        LINE
    }

    /** Copies the arrays. Throws if they differ in length, or if positions are not in ascending order. */
    public Series {
        at = at.clone();
        values = values.clone();
        least = least.clone();
        greatest = greatest.clone();
        if (at.length != values.length || at.length != least.length || at.length != greatest.length) {
            throw new IllegalArgumentException("A series has a value, a least and a greatest for each place, but '"
                    + name + "' has "
                    + at.length + " places, " + values.length + " values, " + least.length + " and " + greatest.length);
        }
        for (int i = 0; i < at.length; i++) {
            if (!Double.isFinite(at[i]) || (i > 0 && at[i] < at[i - 1])) {
                throw new IllegalArgumentException(
                        "The places of a series must be finite and in ascending order, but '" + name
                                + "' has " + at[i] + (i == 0 ? "" : " after " + at[i - 1]));
            }
        }
    }

    /**
     * Creates a series of single values.
     *
     * @param name
     *            the name for display
     * @param style
     *            the style of drawing
     * @param at
     *            the position of each value, finite and in ascending order
     * @param values
     *            one value for each position
     * @return the series
     */
    public static Series of(String name, Style style, double[] at, double[] values) {
        return new Series(name, style, at, values, values, values);
    }

    /**
     * Creates a series from the recorded values of a training.
     *
     * @param name
     *            the name for display
     * @param style
     *            the style of drawing
     * @param curve
     *            the values; each point is drawn at its first step, and values that are not finite at its last step
     * @return the series
     */
    public static Series of(String name, Style style, Curve curve) {
        List<double[]> rows = new ArrayList<>();
        for (Curve.Point point : curve.points()) {
            if (point.finite() > 0) {
                rows.add(new double[]{point.first(), point.mean(), point.min(), point.max()});
            }
            if (point.other() > 0) {
                rows.add(new double[]{point.last(), Double.NaN, Double.NaN, Double.NaN});
            }
        }
        return new Series(name, style, column(rows, 0), column(rows, 1), column(rows, 2), column(rows, 3));
    }

    /** Creates a series of validation results. */
    static Series of(List<Evaluation> evaluations, ToDoubleFunction<Evaluation> value) {
        return of("validation", Style.POINTS, evaluations.stream().mapToDouble(Evaluation::step).toArray(),
                evaluations.stream().mapToDouble(value).toArray());
    }

    private static double[] column(List<double[]> rows, int number) {
        return rows.stream().mapToDouble(row -> row[number]).toArray();
    }

    int size() {
        return at.length;
    }

    boolean noisy() {
        return style == Style.NOISY;
    }

    /** Returns whether the minimum and the maximum of each point equal its value. */
    boolean single() {
        return Arrays.equals(least, values) && Arrays.equals(greatest, values);
    }

    /** Returns the values to show: smoothed ones for the noisy style. */
    double[] shown() {
        return noisy() ? Smoothing.smoothed(values) : values;
    }
}

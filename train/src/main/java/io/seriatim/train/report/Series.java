package io.seriatim.train.report;

import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.metrics.Curve;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Values over the steps or the time of a training, as a chart draws them. A page has all of them in it: some thousand
 * are enough.
 *
 * @param name
 *            for people, such as {@code training}
 * @param style
 *            how they are drawn
 * @param at
 *            where each value is, finite and in ascending order
 * @param values
 *            one for each place; those that are not finite interrupt the line and are marked
 * @param least
 *            the least of what each value is the mean of
 * @param greatest
 *            the greatest of that
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Series(String name, Style style, double[] at, double[] values, double[] least, double[] greatest) {
    /** How a series is drawn. */
    public enum Style {
        /** Faint as it is, and as a line with the noise averaged away. */
        NOISY,
        /** As points with a line between them. */
        POINTS,
        /** As a line. */
        LINE
    }

    /** Copies the arrays. Fails if they differ in length, or if places are not in order. */
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
     * Values of which each stands for itself.
     *
     * @param name
     *            for people
     * @param style
     *            how they are drawn
     * @param at
     *            where each value is, finite and in ascending order
     * @param values
     *            one for each place
     * @return the series
     */
    public static Series of(String name, Style style, double[] at, double[] values) {
        return new Series(name, style, at, values, values, values);
    }

    /**
     * The recorded values of a training.
     *
     * @param name
     *            for people
     * @param style
     *            how it is drawn
     * @param curve
     *            each point is drawn where it begins; what was not finite in it is drawn where it ends
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

    /** The results of validation. */
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

    /** Whether the least and the greatest value of each point equal its value. */
    boolean single() {
        return Arrays.equals(least, values) && Arrays.equals(greatest, values);
    }

    /** The values to show: averages if they are noisy. */
    double[] shown() {
        return noisy() ? Smoothing.smoothed(values) : values;
    }
}

package io.seriatim.train.report;

import java.util.Arrays;

/**
 * What of a curve is drawn.
 *
 * @param name
 *            the curve's
 * @param style
 *            how it is drawn
 * @param at
 *            places of points
 * @param values
 *            at the places
 * @param smoothed
 *            averages at the places, if the curve is noisy, else empty
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Drawn(String name, Chart.Style style, double[] at, double[] values, double[] smoothed) {
    static Drawn of(Chart.Series series) {
        Curve curve = series.curve();
        int[] drawn = Smoothing.drawn(curve.values());
        double[] smoothed = series.style() == Chart.Style.NOISY ? Smoothing.smoothed(curve.values()) : new double[0];
        return new Drawn(curve.name(), series.style(), chosen(curve.at(), drawn), chosen(curve.values(), drawn),
                smoothed.length == 0 ? smoothed : chosen(smoothed, drawn));
    }

    private static double[] chosen(double[] values, int[] indices) {
        return Arrays.stream(indices).mapToDouble(i -> values[i]).toArray();
    }

    boolean noisy() {
        return style == Chart.Style.NOISY;
    }

    /** What readers look at: averages if there is noise. */
    double[] shown() {
        return noisy() ? smoothed : values;
    }
}

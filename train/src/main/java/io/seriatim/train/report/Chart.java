package io.seriatim.train.report;

import io.seriatim.train.metrics.Curve;
import java.util.ArrayList;
import java.util.List;

/**
 * A chart of one or more series.
 *
 * @param title
 *            the title, such as {@code Loss}
 * @param axis
 *            the label of the values, such as {@code nats per character}; may be empty
 * @param along
 *            the label of the horizontal axis, such as {@code step}; charts with equal labels are zoomed together
 * @param unit
 *            the format of values
 * @param fromZero
 *            whether the vertical axis begins at 0
 * @param series
 *            the values
 * @param lines
 *            values to compare with
 */
public record Chart(String title, String axis, String along, Unit unit, boolean fromZero, List<Series> series,
        List<Line> lines) {
    /** The format of values. */
    public enum Unit {
        /** As a number. */
        NUMBER,
        /** 0 to 1, as 0 to 100 %. */
        SHARE,
        /** As KiB, MiB and so on. */
        BYTES;

        /** Returns {@code SHARE} if all values are from 0 to 1, otherwise {@code NUMBER}. */
        static Unit of(Curve curve) {
            return curve.points().stream()
                    .allMatch(point -> point.finite() == 0 || (point.min() >= 0 && point.max() <= 1))
                            ? SHARE
                            : NUMBER;
        }
    }

    /**
     * A reference value, drawn as a horizontal line.
     *
     * @param name
     *            such as {@code bigram}
     * @param value
     *            finite
     */
    public record Line(String name, double value) {
        /** Throws if the value is not finite. */
        public Line {
            if (!Double.isFinite(value)) {
                throw new IllegalArgumentException(
                        "A value to compare with must be finite, but '" + name + "' is " + value);
            }
        }
    }

    /** Copies the lists. */
    public Chart {
        series = List.copyOf(series);
        lines = List.copyOf(lines);
    }

    /**
     * Creates an empty chart of numbers over steps.
     *
     * @param title
     *            the title
     * @param axis
     *            the label of the values; may be empty
     * @return the chart
     */
    public static Chart of(String title, String axis) {
        return new Chart(title, axis, "step", Unit.NUMBER, false, List.of(), List.of());
    }

    /**
     * Returns this chart with another format of values.
     *
     * @param other
     *            the format
     * @return the chart
     */
    public Chart as(Unit other) {
        return new Chart(title, axis, along, other, fromZero, series, lines);
    }

    /**
     * Returns this chart with another horizontal axis.
     *
     * @param other
     *            the label, such as {@code seconds}
     * @return the chart
     */
    public Chart along(String other) {
        return new Chart(title, axis, other, unit, fromZero, series, lines);
    }

    /**
     * Returns this chart with a vertical axis from 0.
     *
     * @return the chart
     */
    public Chart startingAtZero() {
        return new Chart(title, axis, along, unit, true, series, lines);
    }

    /**
     * Returns this chart with an additional series.
     *
     * @param added
     *            the series, which is drawn over the others
     * @return the chart
     */
    public Chart with(Series added) {
        List<Series> more = new ArrayList<>(series);
        more.add(added);
        return new Chart(title, axis, along, unit, fromZero, more, lines);
    }

    /**
     * Returns this chart with a reference value.
     *
     * @param name
     *            the name, such as {@code bigram}
     * @param value
     *            the finite value
     * @return the chart
     */
    public Chart line(String name, double value) {
        List<Line> more = new ArrayList<>(lines);
        more.add(new Line(name, value));
        return new Chart(title, axis, along, unit, fromZero, series, more);
    }
}

package io.seriatim.train.report;

import io.seriatim.train.metrics.Curve;
import java.util.ArrayList;
import java.util.List;

/**
 * Series that are drawn over one another.
 *
 * @param title
 *            what is shown, such as {@code Loss}
 * @param axis
 *            what the values are, such as {@code nats per character}; may be empty
 * @param along
 *            what the places of the series are, such as {@code step}; charts of the same are looked at together
 * @param unit
 *            how values are written
 * @param fromZero
 *            whether the drawing begins at 0
 * @param series
 *            the values
 * @param lines
 *            values to compare with
 */
public record Chart(String title, String axis, String along, Unit unit, boolean fromZero, List<Series> series,
        List<Line> lines) {
    /** How values are written. */
    public enum Unit {
        /** As a number. */
        NUMBER,
        /** 0 to 1, as 0 to 100 %. */
        SHARE,
        /** As KiB, MiB and so on. */
        BYTES;

        /** A share if all values could be one, else a number. */
        static Unit of(Curve curve) {
            return curve.points().stream()
                    .allMatch(point -> point.finite() == 0 || (point.min() >= 0 && point.max() <= 1))
                            ? SHARE
                            : NUMBER;
        }
    }

    /**
     * A value to compare with, drawn from end to end.
     *
     * @param name
     *            such as {@code bigram}
     * @param value
     *            finite
     */
    public record Line(String name, double value) {
        /** Fails if the value is not finite. */
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
     * A chart of numbers over the steps, without values yet.
     *
     * @param title
     *            what is shown
     * @param axis
     *            what the values are; may be empty
     * @return the chart
     */
    public static Chart of(String title, String axis) {
        return new Chart(title, axis, "step", Unit.NUMBER, false, List.of(), List.of());
    }

    /**
     * This chart with values written in another way.
     *
     * @param other
     *            how
     * @return the chart
     */
    public Chart as(Unit other) {
        return new Chart(title, axis, along, other, fromZero, series, lines);
    }

    /**
     * This chart over something else than steps.
     *
     * @param other
     *            what the places of the series are, such as {@code seconds}
     * @return the chart
     */
    public Chart along(String other) {
        return new Chart(title, axis, other, unit, fromZero, series, lines);
    }

    /**
     * This chart drawn from 0.
     *
     * @return the chart
     */
    public Chart startingAtZero() {
        return new Chart(title, axis, along, unit, true, series, lines);
    }

    /**
     * This chart with a series more.
     *
     * @param added
     *            is drawn over the others
     * @return the chart
     */
    public Chart with(Series added) {
        List<Series> more = new ArrayList<>(series);
        more.add(added);
        return new Chart(title, axis, along, unit, fromZero, more, lines);
    }

    /**
     * This chart with a value to compare with.
     *
     * @param name
     *            such as {@code bigram}
     * @param value
     *            finite
     * @return the chart
     */
    public Chart line(String name, double value) {
        List<Line> more = new ArrayList<>(lines);
        more.add(new Line(name, value));
        return new Chart(title, axis, along, unit, fromZero, series, more);
    }
}

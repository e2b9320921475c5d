package io.seriatim.train.report;

import java.util.ArrayList;
import java.util.List;

/**
 * Curves that are drawn over one another.
 *
 * @param title
 *            what is shown, such as {@code Loss}
 * @param axis
 *            what the values are, such as {@code nats per character}; may be empty
 * @param along
 *            what the places of the curves are, such as {@code step}; charts of the same are looked at together
 * @param unit
 *            how values are written
 * @param fromZero
 *            whether the drawing begins at 0
 * @param series
 *            the curves
 * @param lines
 *            values to compare with
 */
public record Chart(String title, String axis, String along, Unit unit, boolean fromZero, List<Series> series, List<Line> lines) {
    /** How values are written. */
    public enum Unit {
        /** As a number. */
        NUMBER,
        /** 0 to 1, as 0 to 100 %. */
        SHARE,
        /** As KiB, MiB and so on. */
        BYTES
    }

    /** How a curve is drawn. */
    public enum Style {
        /** Faint as it is, and as a line with the noise averaged away. */
        NOISY,
        /** As points with a line between them. */
        POINTS,
        /** As a line. */
        LINE
    }

    /**
     * A curve and how it is drawn.
     *
     * @param curve
     *            values
     * @param style
     *            how they are drawn
     */
    public record Series(Curve curve, Style style) {
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
                throw new IllegalArgumentException("A value to compare with must be finite, but '" + name + "' is " + value);
            }
        }
    }

    /** Copies the lists. */
    public Chart {
        series = List.copyOf(series);
        lines = List.copyOf(lines);
    }

    /**
     * A chart of numbers over the steps, without curves yet.
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
     *            what the places of the curves are, such as {@code seconds}
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
     * This chart with a curve more.
     *
     * @param curve
     *            what is drawn
     * @param style
     *            how it is drawn
     * @return the chart
     */
    public Chart with(Curve curve, Style style) {
        List<Series> more = new ArrayList<>(series);
        more.add(new Series(curve, style));
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

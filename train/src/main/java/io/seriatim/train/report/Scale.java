package io.seriatim.train.report;

import io.seriatim.executor.trace.Markup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The range of one axis of a drawing.
 *
 * @param from
 *            the value at the beginning
 * @param to
 *            the value at the end, greater
 */
record Scale(double from, double to) {
    /** With fewer raw values than this all are inside the range; with more, the outermost hundredths may be outside. */
    private static final double OUTSIDE = 0.01;
    private static final double MARGIN = 0.04;
    private static final double LARGEST = 1e300;

    /**
     * A line of a grid.
     *
     * @param value
     *            the position
     * @param label
     *            the text
     */
    record Tick(double value, String label) {
    }

    static Scale along(List<Series> all) {
        double from = Double.POSITIVE_INFINITY;
        double to = Double.NEGATIVE_INFINITY;
        for (Series each : all) {
            if (each.at().length > 0) {
                from = Math.min(from, each.at()[0]);
                to = Math.max(to, each.at()[each.at().length - 1]);
            }
        }
        return from > to ? new Scale(0, 1) : from == to ? new Scale(from - 0.5, to + 0.5) : new Scale(from, to);
    }

    static Scale of(Chart chart, List<Series> all) {
        double from = chart.fromZero() ? 0 : Double.POSITIVE_INFINITY;
        double to = chart.fromZero() ? 0 : Double.NEGATIVE_INFINITY;
        for (Chart.Line line : chart.lines()) {
            from = Math.min(from, line.value());
            to = Math.max(to, line.value());
        }
        for (Series each : all) {
            double[] least = Arrays.stream(each.least()).filter(Double::isFinite).sorted().toArray();
            double[] greatest = Arrays.stream(each.greatest()).filter(Double::isFinite).sorted().toArray();
            if (least.length > 0 && greatest.length > 0) {
                double outside = each.noisy() ? OUTSIDE : 0;
                from = Math.min(from, least[(int) (least.length * outside)]);
                to = Math.max(to, greatest[greatest.length - 1 - (int) (greatest.length * outside)]);
            }
            for (double value : each.shown()) {
                if (Double.isFinite(value)) {
                    from = Math.min(from, value);
                    to = Math.max(to, value);
                }
            }
        }
        return padded(chart, from, to);
    }

    private static Scale padded(Chart chart, double from, double to) {
        if (from > to) {
            return new Scale(0, 1);
        }
        double margin = from == to ? Math.max(Math.abs(from) / 10, Double.MIN_NORMAL) : (to - from) * MARGIN;
        double low = chart.fromZero() && from >= 0 ? 0 : from - margin;
        double high = to + margin;
        if (from == 0 && to == 0) {
            high = 1;
        }
        if (chart.unit() == Chart.Unit.SHARE) {
            low = from >= 0 ? Math.max(0, low) : low;
            high = to <= 1 ? Math.min(1, high) : high;
        }
        // Values whose difference overflows are drawn outside the range.
        return new Scale(Math.clamp(low, -LARGEST, 0.9 * LARGEST), Math.clamp(high, -0.9 * LARGEST, LARGEST));
    }

    double share(double value) {
        return (value - from) / (to - from);
    }

    /**
     * Returns ticks at multiples of 1, 2 or 5 times a power of ten of the displayed values. There are two at least,
     * because one does not show the scale, except between whole numbers.
     *
     * @param most
     *            about as many as there is room for
     */
    List<Tick> ticks(Chart.Unit unit, int most, boolean whole) {
        double factor = 1;
        String suffix = "";
        if (unit == Chart.Unit.SHARE) {
            factor = 100;
            suffix = " %";
        } else if (unit == Chart.Unit.BYTES) {
            String[] sizes = {" B", " KiB", " MiB", " GiB", " TiB"};
            int size = 0;
            while (to * factor >= 1024 && size < sizes.length - 1) {
                factor /= 1024;
                size++;
            }
            suffix = sizes[size];
        }
        // Rounding must not decide whether a value is a power of ten.
        double least = (to - from) * factor / most * (1 - 1e-9);
        double power = Math.pow(10, Math.floor(Math.log10(least) + 1e-12));
        double step = power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
        step = whole ? Math.max(1, step) : step;
        List<Tick> ticks = ticks(step, factor, suffix, most);
        return ticks.size() < 2 && !(whole && step == 1) ? ticks(smaller(step), factor, suffix, most) : ticks;
    }

    /** The next smaller one of 1, 2 or 5 times a power of ten. */
    private static double smaller(double step) {
        double power = Math.pow(10, Math.floor(Math.log10(step) + 1e-9));
        return step > 4 * power ? 2 * power : step > 1.5 * power ? power : power / 2;
    }

    private List<Tick> ticks(double step, double factor, String suffix, int most) {
        int decimals = (int) Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
        String format = decimals > 5 || step >= 1e9 ? "%.1e" : "%,." + decimals + "f";
        List<Tick> ticks = new ArrayList<>();
        for (double i = Math.ceil(from * factor / step); i * step <= to * factor && ticks.size() <= 3 * most; i++) {
            // Removes the sign of a negative zero.
            double value = i * step + 0.0;
            ticks.add(new Tick(value / factor, Markup.format(format, value) + suffix));
        }
        return ticks;
    }
}

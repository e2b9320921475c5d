package io.seriatim.train.report;

import io.seriatim.executor.trace.Markup;

/** Formats numbers of a training. The page's script uses the same formats. */
final class Numbers {
    private Numbers() {
    }

    static String value(Chart.Unit unit, double value) {
        if (!Double.isFinite(value)) {
            return Double.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
        }
        return switch (unit) {
            case NUMBER -> number(value);
            case SHARE -> Markup.format("%.2f %%", 100 * value);
            case BYTES -> Markup.bytes(Math.round(value));
        };
    }

    /** Formats a number with four significant digits, or with all integer digits of a large number. */
    static String number(double value) {
        double size = Math.abs(value);
        if (size >= 9999.5) {
            return Markup.format("%,.0f", value);
        }
        if (size > 0 && size < 1e-3) {
            return Markup.format("%.2e", value);
        }
        int before = size < 1 ? 1 : (int) Math.floor(Math.log10(size)) + 1;
        return Markup.format("%." + Math.max(0, 4 - before) + "f", value);
    }

    static String count(long count, String what) {
        return Markup.count(count) + " " + what + (count == 1 ? "" : "s");
    }

    static String duration(double seconds) {
        if (!(seconds >= 60)) {
            return Markup.time(Math.round(Math.max(0, seconds) * 1e9));
        }
        long all = Math.round(seconds);
        return all < 3600
                ? Markup.format("%d min %d s", all / 60, all % 60)
                : Markup.format("%d h %d min", all / 3600, all / 60 % 60);
    }
}

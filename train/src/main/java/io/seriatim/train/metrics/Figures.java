package io.seriatim.train.metrics;

import java.util.Locale;

/** Formats numbers for display, independent of the system's locale. */
final class Figures {
    private Figures() {
    }

    /** Formats an integer, for instance 1,240. */
    static String whole(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    /** Formats a count, for instance 1 step or 1,240 steps. */
    static String count(long value, String what) {
        return whole(value) + " " + what + (value == 1 ? "" : "s");
    }

    /** Formats a loss or a metric: three decimals, fewer for large values, more for small ones. */
    static String value(double value) {
        double size = Math.abs(value);
        if (!Double.isFinite(value)) {
            return Double.toString(value);
        }
        if (size >= 1e7 || (size < 1e-4 && size > 0)) {
            return String.format(Locale.ROOT, "%.2e", value);
        }
        return String.format(Locale.ROOT, size >= 1000 ? "%,.0f" : size >= 0.1 || size == 0 ? "%.3f" : "%.5f", value);
    }

    /** Formats a rate per second. */
    static String speed(double value) {
        return !Double.isFinite(value)
                ? "?"
                : String.format(Locale.ROOT, value >= 100 ? "%,.0f" : value >= 1 ? "%.1f" : "%.3f", value);
    }

    /** Formats a duration, for instance 0:47 or 1:02:03; ? if it is unknown. */
    static String time(double seconds) {
        if (!(seconds >= 0 && seconds < 1e9)) {
            return "?";
        }
        long all = Math.round(seconds);
        return all < 3600
                ? String.format(Locale.ROOT, "%d:%02d", all / 60, all % 60)
                : String.format(Locale.ROOT, "%,d:%02d:%02d", all / 3600, all / 60 % 60, all % 60);
    }

    /** Formats a number of bytes, for instance 412 MiB. */
    static String bytes(long bytes) {
        return bytes >= 10L << 30
                ? String.format(Locale.ROOT, "%,.1f GiB", bytes / 0x1p30)
                : String.format(Locale.ROOT, "%,d MiB", Math.ceilDiv(bytes, 1L << 20));
    }
}

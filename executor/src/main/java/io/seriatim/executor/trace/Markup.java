package io.seriatim.executor.trace;

import java.util.Locale;

/** Text and numbers for a page that is both HTML and well-formed XML. */
final class Markup {
    private static final String[] TIMES = {"ns", "µs", "ms", "s"};
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB"};

    private Markup() {
    }

    /** What shows as the text in an element and in a quoted attribute. Characters that XML has no way to write become replacement characters. */
    static String text(String text) {
        StringBuilder safe = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '<' -> safe.append("&lt;");
                case '>' -> safe.append("&gt;");
                case '&' -> safe.append("&amp;");
                case '"' -> safe.append("&quot;");
                case '\'' -> safe.append("&#39;");
                default -> safe.appendCodePoint(isXml(c) ? c : 0xFFFD);
            }
        });
        return safe.toString();
    }

    private static boolean isXml(int c) {
        return c == '\t' || c == '\n' || c == '\r' || (c >= ' ' && c < 0xD800) || (c > 0xDFFF && c < 0xFFFE) || c > 0xFFFF;
    }

    /** At most so many characters. */
    static String shortened(String text, int most) {
        return text.length() <= most
                ? text
                : text.substring(0, text.offsetByCodePoints(0, Math.min(text.codePointCount(0, text.length()), most) - 1)) + "…";
    }

    @SuppressWarnings("AnnotateFormatMethod") // Some formats are chosen by the size of the number.
    static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    static String time(long nanos) {
        return scaled(nanos, 1000, TIMES);
    }

    static String bytes(long bytes) {
        return scaled(bytes, 1024, SIZES);
    }

    /** Three digits, and the unit that needs no more. */
    private static String scaled(long value, int step, String[] units) {
        double number = value;
        int unit = 0;
        while (number >= 999.5 && unit < units.length - 1) {
            number /= step;
            unit++;
        }
        String digits = unit == 0 || number >= 99.95 ? "%.0f" : number >= 9.995 ? "%.1f" : "%.2f";
        return format(digits, number) + " " + units[unit];
    }

    static String count(long count) {
        return format("%,d", count);
    }

    static String percent(long part, long whole) {
        return percent((double) part, (double) whole);
    }

    static String percent(double part, double whole) {
        return whole <= 0 ? "–" : format("%.1f %%", 100 * part / whole);
    }
}

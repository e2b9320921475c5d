package io.seriatim.executor.trace;

import io.seriatim.graph.util.Printable;
import java.util.Locale;

/** Formats text and numbers for a page that is both HTML and well-formed XML. */
public final class Markup {
    private static final String[] TIMES = {"ns", "µs", "ms", "s"};
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB"};

    private Markup() {
    }

    /**
     * Escapes text for use as markup.
     *
     * @param text
     *            any text
     * @return markup that displays the text, valid in an element and in a quoted attribute; characters that are not
     * {@link Printable printable} are replaced by escape sequences with their code points
     */
    public static String text(String text) {
        StringBuilder safe = new StringBuilder(text.length() + 16);
        Printable.lines(text).codePoints().forEach(c -> {
            switch (c) {
                case '<' -> safe.append("&lt;");
                case '>' -> safe.append("&gt;");
                case '&' -> safe.append("&amp;");
                case '"' -> safe.append("&quot;");
                case '\'' -> safe.append("&#39;");
                default -> safe.appendCodePoint(c);
            }
        });
        return safe.toString();
    }

    /**
     * Quotes text as JSON that may be embedded in a script element of a page.
     *
     * @param text
     *            any text
     * @return a JSON string, with quotes, that contains no markup characters
     */
    public static String quoted(String text) {
        StringBuilder json = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if ("<>&".indexOf(c) >= 0 || !Printable.isPrintable(c)) {
                Printable.escape(json, c);
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    /**
     * Returns whether XML 1.0 can represent a character (production 2 of the specification).
     *
     * @param c
     *            a code point
     * @return false for most control characters, unpaired surrogates, U+FFFE and U+FFFF
     */
    public static boolean isLegal(int c) {
        return c == '\t' || c == '\n' || c == '\r' || (c >= ' ' && c < 0xD800) || (c > 0xDFFF && c < 0xFFFE)
                || c > 0xFFFF;
    }

    /**
     * Shortens text to a maximum length.
     *
     * @param text
     *            any text
     * @param most
     *            the maximum number of characters, at least 1
     * @return the text, or its beginning followed by "…" if it is longer
     */
    public static String shortened(String text, int most) {
        return text.length() <= most
                ? text
                : text.substring(0,
                        text.offsetByCodePoints(0, Math.min(text.codePointCount(0, text.length()), most) - 1)) + "…";
    }

    /**
     * Formats values as {@link String#format} does, independently of the default locale.
     *
     * @param format
     *            a format string
     * @param values
     *            its arguments; texts must already be markup
     * @return the formatted string
     */
    @SuppressWarnings("AnnotateFormatMethod") // Some formats are chosen by the size of the number.
    public static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    /**
     * Formats a duration.
     *
     * @param nanos
     *            the duration in nanoseconds
     * @return three significant digits and a unit, such as {@code 1.25 ms}
     */
    public static String time(long nanos) {
        return scaled(nanos, 1000, TIMES);
    }

    /**
     * Formats an amount of memory.
     *
     * @param bytes
     *            the number of bytes
     * @return three significant digits and a unit, such as {@code 12.5 MiB}
     */
    public static String bytes(long bytes) {
        return scaled(bytes, 1024, SIZES);
    }

    /** Formats three significant digits and the largest unit that fits them. */
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

    /**
     * Formats an integer.
     *
     * @param count
     *            any number
     * @return its digits in groups of three
     */
    public static String count(long count) {
        return format("%,d", count);
    }

    static String percent(long part, long whole) {
        return percent((double) part, (double) whole);
    }

    static String percent(double part, double whole) {
        return whole <= 0 ? "–" : format("%.1f %%", 100 * part / whole);
    }
}

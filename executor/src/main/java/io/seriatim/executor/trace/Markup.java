package io.seriatim.executor.trace;

import io.seriatim.graph.util.Printable;
import java.util.Locale;

/** Text and numbers for a page that is both HTML and well-formed XML. */
public final class Markup {
    private static final String[] TIMES = {"ns", "µs", "ms", "s"};
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB"};

    private Markup() {
    }

    /**
     * Text as markup.
     *
     * @param text
     *            any
     * @return what shows as that text, in an element and in a quoted attribute; other characters than
     * {@link Printable printable} ones become their numbers
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
     * Text as JSON, which may stand in a script inside of a page.
     *
     * @param text
     *            any
     * @return a quoted string without any character that is markup
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
     * Whether XML has a way to write a character (XML 1.0, production 2).
     *
     * @param c
     *            code point
     * @return false for control characters and halves of pairs
     */
    public static boolean isLegal(int c) {
        return c == '\t' || c == '\n' || c == '\r' || (c >= ' ' && c < 0xD800) || (c > 0xDFFF && c < 0xFFFE)
                || c > 0xFFFF;
    }

    /**
     * The beginning of a text.
     *
     * @param text
     *            any
     * @param most
     *            characters, from 1
     * @return at most so many, the last one … if there were more
     */
    public static String shortened(String text, int most) {
        return text.length() <= most
                ? text
                : text.substring(0,
                        text.offsetByCodePoints(0, Math.min(text.codePointCount(0, text.length()), most) - 1)) + "…";
    }

    /**
     * Numbers and texts in a pattern, the same whatever the language of the machine.
     *
     * @param format
     *            as in {@link String#format}
     * @param values
     *            what it names; texts must be markup
     * @return the whole
     */
    @SuppressWarnings("AnnotateFormatMethod") // Some formats are chosen by the size of the number.
    public static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    /**
     * A duration.
     *
     * @param nanos
     *            nanoseconds
     * @return three digits and a unit, such as {@code 1.25 ms}
     */
    public static String time(long nanos) {
        return scaled(nanos, 1000, TIMES);
    }

    /**
     * A size.
     *
     * @param bytes
     *            of memory
     * @return three digits and a unit, such as {@code 12.5 MiB}
     */
    public static String bytes(long bytes) {
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

    /**
     * A whole number.
     *
     * @param count
     *            any
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

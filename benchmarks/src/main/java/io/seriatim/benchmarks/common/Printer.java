package io.seriatim.benchmarks.common;

import io.seriatim.cli.text.Table;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * Prints tables on stdout.
 *
 * @param out
 *            where to
 * @param markdown
 *            for a README rather than for a terminal
 */
public record Printer(PrintWriter out, boolean markdown) {
    private static final int EXACT = 10; // below, a decimal says something

    /**
     * Prints a table.
     *
     * @param title
     *            a line before it
     * @param table
     *            what is printed
     */
    public void print(String title, Table table) {
        out.println(title);
        if (markdown) {
            out.println();
        }
        out.println(markdown ? table.markdown() : table.text());
        out.flush();
    }

    /**
     * Prints a line.
     *
     * @param text
     *            the line
     */
    public void line(String text) {
        out.println(text);
        out.println();
        out.flush();
    }

    public static String nanos(double value) {
        return String.format(Locale.ROOT, value < EXACT ? "%.1f" : "%.0f", value);
    }

    public static String times(double value) {
        return String.format(Locale.ROOT, value < EXACT ? "%.2f" : "%.0f", value);
    }

    /**
     * A whole number for a table.
     *
     * @param value
     *            the number
     * @return its digits in groups of three
     */
    public static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}

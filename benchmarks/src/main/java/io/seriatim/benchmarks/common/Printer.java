package io.seriatim.benchmarks.common;

import io.seriatim.cli.text.Table;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * Prints tables on stdout.
 *
 * @param out
 *            the output
 * @param markdown
 *            whether tables are printed as Markdown instead of text
 */
public record Printer(PrintWriter out, boolean markdown) {
    private static final int EXACT = 10; // numbers below this are printed with a decimal

    /**
     * Prints a table.
     *
     * @param title
     *            the title line
     * @param table
     *            the table
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
     *            the text of the line
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
     * Formats an integer for a table.
     *
     * @param value
     *            the number
     * @return the digits in groups of three
     */
    public static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}

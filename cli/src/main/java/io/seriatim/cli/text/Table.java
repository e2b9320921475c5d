package io.seriatim.cli.text;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A text table, with the first column left-aligned and the others right-aligned. */
public final class Table {
    private final List<List<String>> rows = new ArrayList<>();

    /**
     * Creates an empty table.
     *
     * @param header
     *            the names of the columns
     */
    public Table(List<String> header) {
        rows.add(List.copyOf(header));
    }

    /**
     * Adds a row.
     *
     * @param cells
     *            as many cells as the header has
     */
    public void row(List<String> cells) {
        int columns = rows.getFirst().size();
        if (cells.size() != columns) {
            throw new IllegalArgumentException(
                    "A row must have " + columns + " cells as the header, but has " + cells.size() + ": " + cells);
        }
        rows.add(List.copyOf(cells));
    }

    /**
     * Formats the table for a terminal.
     *
     * @return lines with aligned columns
     */
    public String text() {
        int[] widths = widths();
        return rows.stream().map(row -> line(row, widths, "  ").stripTrailing())
                .collect(Collectors.joining("\n", "", "\n"));
    }

    /**
     * Formats the table for a document.
     *
     * @return lines of Markdown
     */
    public String markdown() {
        int[] widths = widths();
        List<String> lines = new ArrayList<>(rows.stream().map(row -> "| " + line(row, widths, " | ") + " |").toList());
        lines.add(1,
                IntStream.range(0, widths.length)
                        .mapToObj(i -> i == 0 ? "-".repeat(widths[i] + 2) : "-".repeat(widths[i] + 1) + ":")
                        .collect(Collectors.joining("|", "|", "|")));
        return String.join("\n", lines) + "\n";
    }

    private int[] widths() {
        int columns = rows.getFirst().size();
        return IntStream.range(0, columns).map(i -> rows.stream().mapToInt(row -> row.get(i).length()).max().orElse(0))
                .toArray();
    }

    private static String line(List<String> row, int[] widths, String between) {
        return IntStream.range(0, row.size()).mapToObj(i -> pad(row.get(i), widths[i], i == 0))
                .collect(Collectors.joining(between));
    }

    private static String pad(String text, int width, boolean left) {
        String blanks = " ".repeat(width - text.length());
        return left ? text + blanks : blanks + text;
    }
}

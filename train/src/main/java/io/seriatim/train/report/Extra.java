package io.seriatim.train.report;

import io.seriatim.executor.trace.Markup;
import java.util.List;

/**
 * An additional section with text and a table, such as names sampled from the model.
 *
 * @param title
 *            heading
 * @param paragraphs
 *            text above the table
 * @param columns
 *            headings of the table; none if there is no table
 * @param rows
 *            of the table
 */
public record Extra(String title, List<String> paragraphs, List<String> columns, List<Row> rows) {
    /**
     * A row of the table.
     *
     * @param cells
     *            one for each column
     * @param marked
     *            whether the row is highlighted
     */
    public record Row(List<String> cells, boolean marked) {
        /** Copies the list. */
        public Row {
            cells = List.copyOf(cells);
        }
    }

    /** Copies the lists. Throws if a row does not have one cell for each column. */
    public Extra {
        paragraphs = List.copyOf(paragraphs);
        columns = List.copyOf(columns);
        rows = List.copyOf(rows);
        for (Row row : rows) {
            if (row.cells().size() != columns.size()) {
                throw new IllegalArgumentException(
                        "The table '" + title + "' has " + columns.size() + " columns " + columns
                                + ", but a row has " + row.cells().size() + " cells " + row.cells());
            }
        }
    }

    String section() {
        StringBuilder section = new StringBuilder("<section class=\"extra\">\n");
        paragraphs.forEach(each -> section.append("<p>").append(Markup.text(each)).append("</p>\n"));
        if (!columns.isEmpty()) {
            section.append("<table><thead><tr>");
            columns.forEach(each -> section.append("<th class=\"l\">").append(Markup.text(each)).append("</th>"));
            section.append("</tr></thead><tbody>\n");
            for (Row row : rows) {
                section.append(row.marked() ? "<tr class=\"marked\">" : "<tr>");
                row.cells().forEach(
                        each -> section.append("<td class=\"l name\">").append(Markup.text(each)).append("</td>"));
                section.append("</tr>\n");
            }
            section.append("</tbody></table>\n");
        }
        return section.append("</section>\n").toString();
    }
}

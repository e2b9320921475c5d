package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Tensor;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads a table of comma-separated numbers. Blank lines are skipped. The last column is the label: a class if all
 * labels are written without decimal point and exponent, otherwise a value.
 */
final class CsvTable {
    private static final int MOST = Integer.MAX_VALUE - 8;

    private final Path file;
    private float[] x = new float[1024];
    private double[] y = new double[64];
    private int columns;
    private int rows;
    private int line;
    private boolean seen;
    private boolean whole = true;
    // An integer outside the range of classes is an error only if all labels are integers.
    private @Nullable FileFormatException noClass;

    private CsvTable(Path file) {
        this.file = file;
    }

    /** A cell of a line: the column of its first character, and its text. */
    private record Cell(int column, String text) {
    }

    static LabelledRows read(Path file) throws IOException {
        CsvTable table = new CsvTable(file);
        try (BufferedReader in = Files.newBufferedReader(InputFiles.regular(file))) {
            for (String text = in.readLine(); text != null; text = in.readLine()) {
                table.line++;
                boolean marked = table.line == 1 && text.startsWith("\uFEFF");
                if (!text.isBlank()) {
                    table.add(cells(marked ? " " + text.substring(1) : text));
                }
            }
        } catch (CharacterCodingException e) {
            throw new FileFormatException(file + ":" + (table.line + 1),
                    "a table must be in UTF-8, but this line, or one that follows soon, is not", e);
        }
        return table.examples();
    }

    private static Cell[] cells(String text) {
        String[] parts = text.split(",", -1);
        Cell[] cells = new Cell[parts.length];
        int begin = 0;
        for (int i = 0; i < parts.length; i++) {
            String stripped = parts[i].stripLeading();
            cells[i] = new Cell(begin + parts[i].length() - stripped.length() + 1, stripped.stripTrailing());
            begin += parts[i].length() + 1;
        }
        return cells;
    }

    private void add(Cell... cells) throws FileFormatException {
        boolean first = !seen;
        seen = true;
        if (first) {
            if (cells.length < 2) {
                throw wrong(1,
                        "a table must have at least 2 columns, the last one with the label, but this line has "
                                + cells.length
                                + ": put commas between numbers");
            }
            columns = cells.length;
            if (Arrays.stream(cells).allMatch(cell -> parsed(cell.text) == null)) {
                return;
            }
        }
        if (cells.length != columns) {
            throw wrong(cells[Math.min(cells.length - 1, columns)].column,
                    "a line must have " + columns + " columns, as the first one, but has " + cells.length);
        }
        if ((long) (rows + 1) * (columns - 1) > MOST) {
            throw wrong(1, "a table can have at most " + MOST + " numbers: make an .npy file of it");
        }
        for (int i = 0; i < columns - 1; i++) {
            int at = rows * (columns - 1) + i;
            x = at < x.length ? x : Arrays.copyOf(x, (int) Math.min(MOST, 2L * x.length));
            x[at] = number(cells[i], first);
        }
        addLabel(cells[columns - 1], first);
        rows++;
    }

    private void addLabel(Cell cell, boolean first) throws FileFormatException {
        number(cell, first);
        double label = Double.parseDouble(cell.text);
        y = rows < y.length ? y : Arrays.copyOf(y, 2 * y.length);
        y[rows] = label;
        whole &= cell.text.chars().noneMatch(c -> c == '.' || c == 'e' || c == 'E');
        if (noClass == null && (label < 0 || label >= Rows.MOST_CLASSES)) {
            noClass = wrong(cell.column,
                    "a label that is a whole number is a class from 0 to " + (Rows.MOST_CLASSES - 1) + ", but this is "
                            + cell.text + ": write values that are to be found with a point, as 7.0");
        }
    }

    private float number(Cell cell, boolean first) throws FileFormatException {
        Float value = parsed(cell.text);
        if (value == null) {
            throw wrong(cell.column,
                    "there must be a number, but there is " + (cell.text.isEmpty() ? "nothing" : "'" + cell.text + "'")
                            + (first ? "; a header has no numbers at all" : "")
                            + (cell.text.isEmpty()
                                    ? ""
                                    : ": for a table with texts, see TableData, or train FILE.csv --label COLUMN"));
        }
        if (value.isInfinite()) {
            throw wrong(cell.column, "a number must be within the range of float32, but this is " + cell.text);
        }
        return value;
    }

    /**
     * Parses a decimal number; returns null otherwise. Java's own parser also accepts hexadecimal numbers, NaN and type
     * suffixes.
     */
    private static @Nullable Float parsed(String text) {
        for (int i = 0; i < text.length(); i++) {
            if ("0123456789+-.eE".indexOf(text.charAt(i)) < 0) {
                return null;
            }
        }
        try {
            return Float.valueOf(text);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private FileFormatException wrong(int column, String rule) {
        return new FileFormatException(file + ":" + line + ":" + column, rule);
    }

    private LabelledRows examples() throws FileFormatException {
        if (rows == 0) {
            throw new FileFormatException(file.toString(),
                    seen ? "the table has a header, but no numbers" : "the file is empty");
        }
        if (whole && noClass != null) {
            throw noClass;
        }
        double[] labels = Arrays.copyOf(y, rows);
        Tensor given = Tensor.of(Arrays.copyOf(x, rows * (columns - 1)), rows, columns - 1);
        Tensor said = whole
                ? Tensor.of(Arrays.stream(labels).mapToLong(label -> (long) label).toArray(), rows)
                : Tensor.of(labels, rows);
        return LabelledRows.of(Rows.inputs(file.toString(), given), Rows.labels(file.toString(), said));
    }
}

package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.train.data.TableEncoding.Column;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A table of numbers and texts in a CSV file, to be read as data for a training. Immutable: each method returns a copy.
 *
 * <pre>{@code
 * TableData.Examples people = TableData.csv(file).category("city").number("age").label("class").read();
 * Trainer trainer = Trainer.of(model, people.split()).build();
 * trainer.run();
 * trainer.save(folder.resolve("model"));
 * people.encoding().save(folder.resolve(TableEncoding.FILE));
 * }</pre>
 *
 * The file is in UTF-8 and begins with a header. Cells that contain a separator, a quote or a line feed are in double
 * quotes (RFC 4180). It is read row by row, and each cell takes 4 or 8 bytes of memory, so that the file may be larger
 * than the memory. A tenth of the rows, at least one, is for validation; which ones is a function of the seed and the
 * number of rows. The encoding is found from the others, see {@link TableEncoding}.
 */
public final class TableData {
    /** The cells that say that there is no value, unless {@link #missing} names others. */
    public static final Set<String> MISSING = Set.of("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?");

    /** Two elements of each row must fit into an array. */
    private static final int MOST_ROWS = Integer.MAX_VALUE / 2 - 8;
    private static final int PARTS = 10;
    private static final int MANY_CLASSES = 1000;

    private final Path file;
    private final char separator;
    private final Map<String, Kind> kinds;
    private final @Nullable String label;
    private final Set<String> missing;
    private final boolean marksMissing;
    private final boolean infers;
    private final long seed;

    private enum Kind {
        NUMBER, CATEGORY, LEFT_OUT
    }

    /**
     * The rows of a table.
     *
     * @param encoding
     *            how cells are encoded, to be saved beside the model
     * @param split
     *            the rows for training and for validation; their fields are the columns in the order of the encoding,
     *            and the label
     * @param leftOut
     *            the columns that {@link #inferred} left out, by name, with the reason
     */
    public record Examples(TableEncoding encoding, Split split, Map<String, String> leftOut) {
        /** Copies the map. */
        public Examples {
            leftOut = Map.copyOf(leftOut);
        }
    }

    private TableData(Path file, char separator, Map<String, Kind> kinds, @Nullable String label, Set<String> missing,
            boolean marksMissing, boolean infers, long seed) {
        this.file = file;
        this.separator = separator;
        this.kinds = kinds;
        this.label = label;
        this.missing = missing;
        this.marksMissing = marksMissing;
        this.infers = infers;
        this.seed = seed;
    }

    /**
     * Begins the description of a table. Nothing is read yet.
     *
     * @param file
     *            a CSV file with a header
     * @return a table without columns
     */
    public static TableData csv(Path file) {
        return new TableData(file, ',', Map.of(), null, MISSING, false, false, 0);
    }

    private TableData with(Kind kind, String... names) {
        Map<String, Kind> more = new LinkedHashMap<>(kinds);
        for (String name : names) {
            if (more.put(name, kind) != null || name.equals(label)) {
                throw new IllegalArgumentException("A column can be named once, but '" + name + "' is named twice");
            }
        }
        return new TableData(file, separator, more, label, missing, marksMissing, infers, seed);
    }

    /**
     * Adds columns of texts of which each stands for itself, such as a city.
     *
     * @param names
     *            their names in the header
     * @return a copy
     * @throws IllegalArgumentException
     *             if a column is named twice
     */
    public TableData category(String... names) {
        return with(Kind.CATEGORY, names);
    }

    /**
     * Adds columns of numbers.
     *
     * @param names
     *            their names in the header
     * @return a copy
     * @throws IllegalArgumentException
     *             if a column is named twice
     */
    public TableData number(String... names) {
        return with(Kind.NUMBER, names);
    }

    /**
     * Leaves out columns that {@link #inferred} would add.
     *
     * @param names
     *            their names in the header
     * @return a copy
     * @throws IllegalArgumentException
     *             if a column is named twice
     */
    public TableData without(String... names) {
        return with(Kind.LEFT_OUT, names);
    }

    /**
     * Adds all columns that are not named: those in which each cell is a number or missing are numbers, all others
     * categories. Columns without a name, without any value, or with texts of which more than half are different, such
     * as names or addresses, are left out. The file is read twice.
     *
     * @return a copy
     */
    public TableData inferred() {
        return new TableData(file, separator, kinds, label, missing, marksMissing, true, seed);
    }

    /**
     * Sets the column with the classes that a model learns to find.
     *
     * @param name
     *            its name in the header; each of its texts is a class
     * @return a copy
     * @throws IllegalArgumentException
     *             if the column is named twice
     */
    public TableData label(String name) {
        if (kinds.containsKey(name) || label != null) {
            throw new IllegalArgumentException(label == null
                    ? "A column can be named once, but '" + name + "' is named twice"
                    : "A table has one label, but '" + label + "' and '" + name + "' are named");
        }
        return new TableData(file, separator, kinds, name, missing, marksMissing, infers, seed);
    }

    /**
     * Sets the separator of cells.
     *
     * @param character
     *            such as a semicolon or a tabulator; the default is a comma
     * @return a copy
     */
    public TableData separator(char character) {
        return new TableData(file, character, kinds, label, missing, marksMissing, infers, seed);
    }

    /**
     * Sets the cells that say that there is no value.
     *
     * @param texts
     *            instead of {@link #MISSING}; the empty text is to be among them if cells may be empty
     * @return a copy
     */
    public TableData missing(String... texts) {
        Set<String> others = new HashSet<>(Arrays.asList(texts));
        return new TableData(file, separator, kinds, label, others, marksMissing, infers, seed);
    }

    /**
     * Marks missing numbers by a second element of each column of numbers.
     *
     * @return a copy
     */
    public TableData markMissing() {
        return new TableData(file, separator, kinds, label, missing, true, infers, seed);
    }

    /**
     * Sets the seed that decides which rows are for validation.
     *
     * @param value
     *            any; the default is 0
     * @return a copy
     */
    public TableData seed(long value) {
        return new TableData(file, separator, kinds, label, missing, marksMissing, infers, value);
    }

    /**
     * Reads the file.
     *
     * @return its rows
     * @throws FileFormatException
     *             if a row is invalid, with its line and the name of the column; or if there are no two rows and no two
     *             classes
     * @throws IOException
     *             if it cannot be read
     * @throws IllegalStateException
     *             if no label or no column is named
     */
    public Examples read() throws IOException {
        String wanted = label;
        if (wanted == null || (!infers && kinds.values().stream().allMatch(kind -> kind == Kind.LEFT_OUT))) {
            throw new IllegalStateException(wanted == null
                    ? "The label of the table is not named: add label(\"…\")"
                    : "No column of the table is named: add category(\"…\"), number(\"…\") or inferred()");
        }
        Map<String, String> leftOut = new LinkedHashMap<>();
        Map<String, Kind> all = infers ? inferKinds(wanted, leftOut) : kinds;
        List<TableCells> columns = new ArrayList<>();
        try (TableFile table = new TableFile(file, separator)) {
            for (Map.Entry<String, Kind> each : all.entrySet()) {
                int position = table.column(each.getKey());
                switch (each.getValue()) {
                    case NUMBER -> columns.add(new TableCells.Numbers(each.getKey(), position, marksMissing));
                    case CATEGORY -> columns.add(new TableCells.Texts(each.getKey(), position));
                    case LEFT_OUT -> {
                    }
                }
            }
            TableCells.Labels labels = new TableCells.Labels(wanted, table.column(wanted));
            if (columns.isEmpty()) {
                throw new FileFormatException(file.toString(),
                        "the table has no column to learn from besides its label"
                                + (leftOut.isEmpty() ? "" : ": left out are " + leftOut));
            }
            int rows = 0;
            for (List<String> row = table.next(); row != null; row = table.next()) {
                if (rows == MOST_ROWS) {
                    throw table.wrong("a table can have at most " + MOST_ROWS + " rows");
                }
                for (TableCells column : columns) {
                    add(column, rows, row, table);
                }
                add(labels, rows++, row, table);
            }
            return examples(columns, labels, rows, leftOut);
        }
    }

    private void add(TableCells column, int row, List<String> cells, TableFile table) throws FileFormatException {
        String cell = cells.get(column.position());
        column.add(row, cell, missing.contains(cell), table);
    }

    private Examples examples(List<TableCells> columns, TableCells.Labels labels, int rows,
            Map<String, String> leftOut) throws FileFormatException {
        List<String> classes = labels.classes();
        if (rows < 2 || classes.size() < 2) {
            throw new FileFormatException(file.toString(), rows < 2
                    ? "there must be at least 2 rows, one of them for validation, but there are " + rows
                    : "column '" + labels.name() + "' must have at least 2 classes, but has only " + classes);
        }
        if (classes.size() > MANY_CLASSES && classes.size() > rows / 2) {
            throw new FileFormatException(file.toString(), "the label '" + labels.name() + "' must be a class, but has "
                    + classes.size() + " different texts in " + rows
                    + " rows: is this a value? Values are learnt from a table of numbers alone, see DataFiles");
        }
        int[] order = Permutation.of(seed, 0, rows);
        int held = Math.max(1, rows / PARTS);
        int[] validation = Arrays.copyOf(order, held);
        int[] training = Arrays.copyOfRange(order, held, rows);
        // In the order of the file.
        Arrays.sort(validation);
        Arrays.sort(training);
        List<Column> found = new ArrayList<>();
        List<Object> elements = new ArrayList<>();
        for (TableCells cells : columns) {
            Column column;
            try {
                column = cells.column(training);
            } catch (IllegalArgumentException e) {
                throw new FileFormatException(file.toString(), String.valueOf(e.getMessage()), e);
            }
            found.add(column);
            elements.add(cells.encoded(column, rows));
        }
        elements.add(labels.encoded(classes, rows));
        TableEncoding encoding = new TableEncoding(found, labels.name(), classes, missing);
        List<Field> fields = encoding.fields();
        return new Examples(encoding,
                new Split(new TableRows(fields, elements, training), new TableRows(fields, elements, validation)),
                leftOut);
    }

    /** Finds the kinds of the columns that are not named. */
    private Map<String, Kind> inferKinds(String wanted, Map<String, String> leftOut) throws IOException {
        try (TableFile table = new TableFile(file, separator)) {
            List<Survey> surveys = new ArrayList<>();
            for (int i = 0; i < table.header().size(); i++) {
                String name = table.header().get(i);
                if (name.isEmpty()) {
                    leftOut.put("column " + (i + 1), "it has no name");
                } else if (!kinds.containsKey(name) && !name.equals(wanted)) {
                    surveys.add(new Survey(name, i));
                }
            }
            for (List<String> row = table.next(); row != null; row = table.next()) {
                for (Survey survey : surveys) {
                    String cell = row.get(survey.position);
                    if (!missing.contains(cell)) {
                        survey.add(cell);
                    }
                }
            }
            Map<String, Kind> all = new LinkedHashMap<>(kinds);
            for (Survey survey : surveys) {
                String reason = survey.reason();
                if (reason == null) {
                    all.put(survey.name, survey.isNumber ? Kind.NUMBER : Kind.CATEGORY);
                } else {
                    leftOut.put(survey.name, reason);
                }
            }
            return all;
        }
    }

    /** What is known about a column whose kind is not named. */
    private static final class Survey {
        private static final int MOST_TEXTS = Rows.MOST_CLASSES;
        private static final int FEW_TEXTS = 20;

        private final String name;
        private final int position;
        private final Set<String> texts = new HashSet<>();
        private boolean isNumber = true;
        private long values;

        Survey(String name, int position) {
            this.name = name;
            this.position = position;
        }

        void add(String cell) {
            values++;
            isNumber = isNumber && TableEncoding.number(cell) != null;
            // One more than can be used says that there are too many.
            if (texts.size() <= MOST_TEXTS) {
                texts.add(cell);
            }
        }

        @Nullable
        String reason() {
            if (values == 0) {
                return "all its values are missing";
            }
            boolean many = texts.size() > MOST_TEXTS
                    || (texts.size() > FEW_TEXTS && texts.size() > values / 2);
            return isNumber || !many
                    ? null
                    : (texts.size() > MOST_TEXTS ? "more than " + MOST_TEXTS : texts.size()) + " different texts in "
                            + values + " rows";
        }
    }

    /** The next length of a growing array. */
    static int grown(int length) {
        return (int) Math.min(MOST_ROWS, 2L * length);
    }
}

package io.seriatim.train.data;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonReader;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.json.JsonWriter;
import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How the cells of a table become tensors: found by {@link TableData} from the rows for training, saved beside the
 * model as {@value #FILE}, and applied to the rows of requests. Each column is a feed of its name. Immutable.
 *
 * <ul>
 * <li>A {@link NumberColumn} is float32 [rows, 1]: the number minus the mean of the column, divided by its standard
 * deviation. A missing number is the mean, which is 0. If the column marks missing numbers, it is [rows, 2], and the
 * second element is 1 if the number is missing, otherwise 0.
 * <li>A {@link CategoryColumn} is int64 [rows, 1]: an id from 1 on for each text that occurs in the rows for training,
 * in the order of the texts, and 0 for a text that is missing or unknown.
 * <li>The label is int64 [rows, 1], the position of its text in {@link #classes}.
 * </ul>
 *
 * White space around a cell does not count.
 */
public final class TableEncoding {
    /** The name of the file beside a model. */
    public static final String FILE = "table.json";

    private static final String FORMAT = "seriatim table";
    private static final int VERSION = 1;
    private static final int WIDEST_EMBEDDING = 32;

    private final List<Column> columns;
    private final String label;
    private final List<String> classes;
    private final Set<String> missing;

    /** The encoding of a column. */
    public sealed interface Column permits NumberColumn, CategoryColumn {
        /**
         * Returns the name of the column and of its feed.
         *
         * @return the name in the header
         */
        String name();

        /**
         * Returns the field of the column.
         *
         * @return FLOAT32 [1] or [2] for numbers, INT64 [1] for categories
         */
        Field field();
    }

    /**
     * A column of numbers.
     *
     * @param name
     *            the name in the header
     * @param mean
     *            the mean of the numbers for training that are not missing
     * @param deviation
     *            their standard deviation, above 0; 1 if all of them are equal
     * @param marksMissing
     *            whether a second element marks missing numbers
     */
    public record NumberColumn(String name, double mean, double deviation, boolean marksMissing) implements Column {
        /** Checks the numbers. */
        public NumberColumn {
            if (!Double.isFinite(mean) || !(deviation > 0) || Double.isInfinite(deviation)) {
                throw new IllegalArgumentException("The mean of column '" + name
                        + "' must be finite and its deviation above 0, but they are " + mean + " and " + deviation);
            }
        }

        @Override
        public Field field() {
            return new Field(name, DType.FLOAT32, Shape.of(width()));
        }

        int width() {
            return marksMissing ? 2 : 1;
        }

        /** Writes the elements of a row; NaN is a missing number. */
        void encode(double number, float[] to, int row) {
            boolean isMissing = Double.isNaN(number);
            double distance = (number - mean) / deviation;
            to[row * width()] = isMissing ? 0 : (float) Math.clamp(distance, -Float.MAX_VALUE, Float.MAX_VALUE);
            if (marksMissing) {
                to[row * 2 + 1] = isMissing ? 1 : 0;
            }
        }
    }

    /**
     * A column of texts of which each stands for itself.
     *
     * @param name
     *            the name in the header
     * @param values
     *            the texts for training, sorted, without the missing ones; that at position i has the id i + 1
     */
    public record CategoryColumn(String name, List<String> values) implements Column {
        /** Copies the list, and checks that it is sorted. */
        public CategoryColumn {
            values = List.copyOf(values);
            for (int i = 1; i < values.size(); i++) {
                if (values.get(i - 1).compareTo(values.get(i)) >= 0) {
                    throw new IllegalArgumentException("The categories of column '" + name
                            + "' must be different and sorted, but '" + values.get(i) + "' follows '"
                            + values.get(i - 1) + "'");
                }
            }
        }

        @Override
        public Field field() {
            return new Field(name, DType.INT64, Shape.of(1));
        }

        /**
         * Returns the id of a text.
         *
         * @param text
         *            any
         * @return from 1 on; 0 if the text is unknown
         */
        public int id(String text) {
            return Math.max(0, Collections.binarySearch(values, text) + 1);
        }
    }

    /**
     * Creates an encoding.
     *
     * @param columns
     *            at least one, of different names, which are the feeds in this order
     * @param label
     *            the name of the label's column, which is none of them
     * @param classes
     *            the texts of the label, all different, at least 2
     * @param missing
     *            the texts of cells without a value
     * @throws IllegalArgumentException
     *             if that does not hold
     */
    public TableEncoding(List<? extends Column> columns, String label, List<String> classes, Set<String> missing) {
        this.columns = List.copyOf(columns);
        this.label = label;
        this.classes = List.copyOf(classes);
        this.missing = Set.copyOf(missing);
        Set<String> names = new HashSet<>(Set.of(label));
        for (Column column : this.columns) {
            if (!names.add(column.name())) {
                throw new IllegalArgumentException(
                        "The columns and the label must have different names, but '" + column.name()
                                + "' occurs twice");
            }
        }
        if (this.columns.isEmpty()) {
            throw new IllegalArgumentException("A table must have at least one column besides its label");
        }
        if (this.classes.size() < 2 || new HashSet<>(this.classes).size() < this.classes.size()) {
            throw new IllegalArgumentException(
                    "The label '" + label + "' must have at least 2 different classes, but they are " + shown(classes));
        }
    }

    private static List<String> shown(List<String> classes) {
        return classes.size() <= 8 ? classes : Stream.concat(classes.stream().limit(8), Stream.of("…")).toList();
    }

    /**
     * Returns the columns.
     *
     * @return at least one, in the order of the feeds
     */
    public List<Column> columns() {
        return columns;
    }

    /**
     * Returns the name of the label's column.
     *
     * @return its name in the header
     */
    public String label() {
        return label;
    }

    /**
     * Returns the classes.
     *
     * @return the texts of the label, at least 2; a label is its position here
     */
    public List<String> classes() {
        return classes;
    }

    /**
     * Returns the fields of the data.
     *
     * @return those of the columns, and that of the label
     */
    public List<Field> fields() {
        List<Field> fields = new ArrayList<>();
        columns.forEach(column -> fields.add(column.field()));
        fields.add(new Field(label, DType.INT64, Shape.of(1)));
        return fields;
    }

    boolean isMissing(String cell) {
        return missing.contains(cell);
    }

    /**
     * Appends the feeds of all columns to a network, and joins them: numbers as they are, and categories as embeddings
     * whose width is about the square root of their number, at most 32. A missing or unknown text has zeros.
     *
     * @param graph
     *            the graph of a network in which no variable has the name of a column
     * @return float32 [rows, features]
     */
    public Value features(Graph graph) {
        List<Value> parts = new ArrayList<>();
        for (Column column : columns) {
            Field field = column.field();
            Value feed = graph.data(field.name(), field.dtype(), -1, field.shape().size());
            parts.add(switch (column) {
                case NumberColumn _ -> feed;
                case CategoryColumn(_, List<String> values) -> {
                    int width = (int) Math.min(WIDEST_EMBEDDING, 1 + Math.ceil(Math.sqrt(values.size())));
                    // The row of the id 0 is zeros: without missing texts it would never be trained, and an unknown
                    // text would add random numbers.
                    yield graph.layers()
                            .embedding(values.size() + 1L, width, false, 0,
                                    ParameterSpec.of(Initializer.normal(0, 0.5)))
                            .apply(feed).reshape(-1, width);
                }
            });
        }
        return parts.size() == 1 ? parts.getFirst() : graph.concat(1, parts.toArray(Value[]::new));
    }

    /**
     * Encodes rows.
     *
     * @param rows
     *            at least one; each has the text of every column by name, which may be one for a missing value. Other
     *            names, such as the label's, are ignored
     * @return a new tensor on the host for each column, by name
     * @throws IllegalArgumentException
     *             if a row lacks a column, or has something else where there must be a number
     */
    public Map<String, Tensor> encode(List<? extends Map<String, String>> rows) {
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("There must be at least one row to encode, but there are none");
        }
        Map<String, float[]> numbers = new LinkedHashMap<>();
        Map<String, long[]> ids = new LinkedHashMap<>();
        for (Column column : columns) {
            switch (column) {
                case NumberColumn number -> numbers.put(number.name(), numbers(number, rows));
                case CategoryColumn category -> ids.put(category.name(), ids(category, rows));
            }
        }
        // Tensors are made after all rows have been checked, so that an error leaves none.
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Column column : columns) {
            float[] values = numbers.get(column.name());
            tensors.put(column.name(), values == null
                    ? Tensor.of(ids.getOrDefault(column.name(), new long[0]), rows.size(), 1)
                    : Tensor.of(values, rows.size(), values.length / rows.size()));
        }
        return tensors;
    }

    private float[] numbers(NumberColumn column, List<? extends Map<String, String>> rows) {
        float[] values = new float[Math.multiplyExact(rows.size(), column.width())];
        for (int i = 0; i < rows.size(); i++) {
            String cell = cell(column, rows.get(i), i);
            Double number = isMissing(cell) ? Double.valueOf(Double.NaN) : number(cell);
            if (number == null) {
                throw new IllegalArgumentException(
                        "Row " + i + ", column '" + column.name() + "': there must be a number, or one of "
                                + Arrays.toString(missing.stream().sorted().toArray())
                                + " for a missing one, but there is '" + cell + "'");
            }
            column.encode(number, values, i);
        }
        return values;
    }

    private long[] ids(CategoryColumn column, List<? extends Map<String, String>> rows) {
        long[] ids = new long[rows.size()];
        for (int i = 0; i < ids.length; i++) {
            String cell = cell(column, rows.get(i), i);
            ids[i] = isMissing(cell) ? 0 : column.id(cell);
        }
        return ids;
    }

    private String cell(Column column, Map<String, String> row, int index) {
        String cell = row.get(column.name());
        if (cell == null) {
            throw new IllegalArgumentException("Row " + index + " must have a text for each of the columns "
                    + columns.stream().map(Column::name).toList() + ", but has none for '" + column.name()
                    + "': give the empty text for a missing value");
        }
        return cell.strip();
    }

    /**
     * Parses a finite decimal number; returns null otherwise. Java's own parser also accepts hexadecimal numbers, NaN
     * and type suffixes.
     */
    static @Nullable Double number(String text) {
        for (int i = 0; i < text.length(); i++) {
            if ("0123456789+-.eE".indexOf(text.charAt(i)) < 0) {
                return null;
            }
        }
        try {
            Double value = Double.valueOf(text);
            return value.isInfinite() ? null : value;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /**
     * Saves the encoding, under a temporary name first, so that the file is complete or absent.
     *
     * @param file
     *            {@value #FILE} in the model's folder, which must exist
     * @throws IOException
     *             if it cannot be written; an existing file is kept
     */
    public void save(Path file) throws IOException {
        AtomicFile.writeText(file, out -> {
            JsonWriter json = new JsonWriter(out).beginObject();
            json.name("format").value(FORMAT).name("version").value((long) VERSION);
            json.name("label").value(label).name("classes");
            texts(json, classes);
            json.name("missing");
            texts(json, missing.stream().sorted().toList());
            json.name("columns").beginArray();
            for (Column column : columns) {
                json.beginObject().name("name").value(column.name());
                switch (column) {
                    case NumberColumn number -> json.name("type").value("number").name("mean").value(number.mean())
                            .name("deviation").value(number.deviation()).name("marksMissing")
                            .value(number.marksMissing());
                    case CategoryColumn category -> {
                        json.name("type").value("category").name("values");
                        texts(json, category.values());
                    }
                }
                json.end();
            }
            json.end().end();
            out.write('\n');
        });
    }

    private static void texts(JsonWriter json, List<String> texts) throws IOException {
        json.beginArray();
        for (String text : texts) {
            json.value(text);
        }
        json.end();
    }

    /**
     * Reads a saved encoding.
     *
     * @param file
     *            {@value #FILE} in the model's folder
     * @return the encoding
     * @throws FileFormatException
     *             if it is not such a file
     * @throws IOException
     *             if it cannot be read
     */
    public static TableEncoding load(Path file) throws IOException {
        JsonObject table = JsonReader.read(file).object();
        if (!table.get("format").text().equals(FORMAT)) {
            throw table.get("format").error("the encoding of a table has the format \"" + FORMAT + "\"");
        }
        if (table.get("version").int64() != VERSION) {
            throw table.get("version").error("only version " + VERSION + " of tables can be read");
        }
        List<Column> columns = new ArrayList<>();
        try {
            for (JsonValue each : table.get("columns").array().values()) {
                columns.add(column(each.object()));
            }
            return new TableEncoding(columns, table.get("label").text(), texts(table.get("classes").array()),
                    Set.copyOf(texts(table.get("missing").array())));
        } catch (IllegalArgumentException e) {
            throw new FileFormatException(file.toString(), String.valueOf(e.getMessage()), e);
        }
    }

    private static Column column(JsonObject column) throws FileFormatException {
        String name = column.get("name").text();
        return switch (column.get("type").text()) {
            case "number" -> new NumberColumn(name, column.get("mean").float64(), column.get("deviation").float64(),
                    column.get("marksMissing").bool());
            case "category" -> new CategoryColumn(name, texts(column.get("values").array()));
            default -> throw column.get("type").error("the type of a column is \"number\" or \"category\"");
        };
    }

    private static List<String> texts(JsonArray array) throws FileFormatException {
        List<String> texts = new ArrayList<>();
        for (JsonValue each : array.values()) {
            texts.add(each.text());
        }
        return texts;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TableEncoding table && columns.equals(table.columns) && label.equals(table.label)
                && classes.equals(table.classes) && missing.equals(table.missing);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(new Object[]{columns, label, classes, missing});
    }

    @Override
    public String toString() {
        return columns.stream().map(column -> switch (column) {
            case NumberColumn number -> number.name();
            case CategoryColumn category -> category.name() + " (" + category.values().size() + ")";
        }).toList() + " → " + label + " " + shown(classes);
    }
}

package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.TableEncoding.CategoryColumn;
import io.seriatim.train.data.TableEncoding.NumberColumn;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableDataTest {
    @TempDir
    Path folder;

    private Path file(String content) throws IOException {
        return Files.writeString(folder.resolve("t.csv"), content);
    }

    private TableData people(String content) throws IOException {
        return TableData.csv(file(content)).category("city").number("age").label("class");
    }

    private static List<Tensor> all(Dataset dataset) throws IOException {
        return dataset.batch(IntStream.range(0, dataset.size()).toArray());
    }

    private static Tensor tensor(Map<String, Tensor> encoded, String column) {
        return Objects.requireNonNull(encoded.get(column), column);
    }

    private String message(TableData table) {
        return String.valueOf(assertThrows(FileFormatException.class, table::read).getMessage())
                .replace(folder.resolve("t.csv").toString(), "t.csv");
    }

    @Test
    void readsColumnsOfBothKinds() throws IOException {
        TableData.Examples read = people("""
                \uFEFFid,city, age ,class\r
                1,Rome,10,no\r
                2,"Paris, France",,"yes"\r
                \r
                3, NA ,30,"n""o"\r
                4,Rome,2e1,no\r
                """).read();
        assertEquals(List.of(new Field("city", DType.INT64, Shape.of(1)), new Field("age", DType.FLOAT32, Shape.of(1)),
                new Field("class", DType.INT64, Shape.of(1))), read.split().training().fields());
        assertEquals(List.of("n\"o", "no", "yes"), read.encoding().classes());
        assertEquals(3, read.split().training().size());
        assertEquals(1, read.split().validation().size());
        Map<String, Tensor> encoded = read.encoding().encode(List.of(Map.of("city", "", "age", "?")));
        assertArrayEquals(new long[]{0}, tensor(encoded, "city").toLongArray());
        assertArrayEquals(new float[]{0}, tensor(encoded, "age").toFloatArray());
    }

    /** Random tables, compared with an encoding that is computed from their texts. */
    @Test
    void encodesWhatTheRowsForTrainingSay() throws IOException {
        for (long seed = 0; seed < 30; seed++) {
            Random random = new Random(seed);
            int rows = 2 + random.nextInt(60);
            List<Map<String, String>> table = new ArrayList<>();
            StringBuilder text = new StringBuilder("unused,n,class,c\n");
            for (int i = 0; i < rows; i++) {
                String number =
                        random.nextInt(5) == 0 ? "NA" : String.format(Locale.ROOT, "%.3e", 100 * random.nextGaussian());
                String city = random.nextInt(6) == 0 ? "" : "c\n\"," + random.nextInt(12);
                // Row i is recognised by its label; at least two numbers are not missing in any split.
                table.add(Map.of("n", i < 4 ? Integer.toString(i) : number, "c", city, "class", "x" + i));
                text.append("?,").append(table.get(i).get("n")).append(",x").append(i).append(",\"")
                        .append(city.replace("\"", "\"\"")).append("\"\n");
            }
            TableData.Examples read = TableData.csv(file(text.toString())).number("n").category("c").label("class")
                    .markMissing().seed(seed).read();
            Dataset training = read.split().training();
            assertEquals(Math.max(1, rows / 10), read.split().validation().size(), "seed " + seed);
            Set<String> seen = new TreeSet<>();
            List<Tensor> learnt = all(training);
            double sum = 0;
            double squares = 0;
            int count = 0;
            Map<Long, Integer> used = new HashMap<>();
            for (long label : learnt.get(2).toLongArray()) {
                used.merge(label, 1, Integer::sum);
                Map<String, String> row = row(table, read, label);
                if (!row.getOrDefault("c", "").isEmpty()) {
                    seen.add(row.getOrDefault("c", ""));
                }
                if (!row.getOrDefault("n", "").equals("NA")) {
                    double value = Double.parseDouble(row.getOrDefault("n", ""));
                    sum += value;
                    squares += value * value;
                    count++;
                }
            }
            for (long label : all(read.split().validation()).get(2).toLongArray()) {
                used.merge(label, 1, Integer::sum);
            }
            assertEquals(rows, used.size(), "each row is in one part, seed " + seed);
            double mean = sum / count;
            NumberColumn numbers = (NumberColumn) read.encoding().columns().getFirst();
            assertEquals(mean, numbers.mean(), 1e-9 * (1 + Math.abs(mean)), "seed " + seed);
            if (count > 1) {
                assertEquals(Math.sqrt(squares / count - mean * mean), numbers.deviation(), 1e-6 * numbers.deviation(),
                        "seed " + seed);
            }
            assertEquals(new CategoryColumn("c", List.copyOf(seen)), read.encoding().columns().get(1), "seed " + seed);
            for (Dataset part : List.of(training, read.split().validation())) {
                List<Tensor> tensors = all(part);
                List<Map<String, String>> texts = new ArrayList<>();
                for (long label : tensors.get(2).toLongArray()) {
                    texts.add(row(table, read, label));
                }
                Map<String, Tensor> encoded = read.encoding().encode(texts);
                assertArrayEquals(tensor(encoded, "n").toFloatArray(), tensors.get(0).toFloatArray(), "seed " + seed);
                assertArrayEquals(tensor(encoded, "c").toLongArray(), tensors.get(1).toLongArray(), "seed " + seed);
            }
            Path saved = folder.resolve(TableEncoding.FILE);
            read.encoding().save(saved);
            assertEquals(read.encoding(), TableEncoding.load(saved), "seed " + seed);
        }
    }

    private static Map<String, String> row(List<Map<String, String>> table, TableData.Examples read, long label) {
        return table.get(Integer.parseInt(read.encoding().classes().get((int) label).substring(1)));
    }

    @Test
    void ordersClassesOfNumbersByValue() throws IOException {
        assertEquals(List.of("-1", "2", "10"),
                people("city,age,class\nA,1,10\nA,2,2\nA,3,-1\nA,4,2\n").read().encoding().classes());
    }

    @Test
    void infersKinds() throws IOException {
        StringBuilder text = new StringBuilder(",name,age,zip,city,empty,class\n");
        for (int i = 0; i < 50; i++) {
            text.append(i).append(",name ").append(i).append(',').append(i == 7 ? "NA" : i).append(',').append(i % 5)
                    .append(",c").append(i % 3).append(",,").append(i % 2 == 0 ? "a" : "b").append('\n');
        }
        TableData.Examples read = TableData.csv(file(text.toString())).category("zip").label("class").inferred().read();
        assertEquals(Map.of("column 1", "it has no name", "name", "50 different texts in 50 rows", "empty",
                "all its values are missing"), read.leftOut());
        assertEquals("[zip (5), age, city (3)] → class [a, b]", read.encoding().toString());
    }

    @Test
    void saysWhatIsWrongWithAFile() throws IOException {
        assertEquals("t.csv: the file is empty, but a table has a header", message(people("")));
        assertEquals("t.csv:1: the header must have a column 'city', but its columns are [town, age, class]",
                message(people("town,age,class\n")));
        assertEquals("t.csv:1: the header must have a column 'city', but its columns are [city;age;class]: is the "
                + "separator another one?", message(people("city;age;class\nA;1;x\n")));
        assertEquals("t.csv:1: the columns must have different names, but columns 1 and 3 are both 'city'",
                message(people("city,age,city,class\n")));
        assertEquals("t.csv:4: a row must have 3 cells, as the header, but has 2",
                message(people("city,age,class\nA,1,x\n\nA,1\n")));
        assertEquals("t.csv:2: a row must have 3 cells, as the header, but has 4: put a cell that contains the "
                + "separator in double quotes", message(people("city,age,class\nA,B,1,x\n")));
        assertEquals("t.csv:4: column 'age' must have numbers, but here is 'old': if this says that the number is "
                + "missing, name it with missing(…); if the column has texts, it is a category",
                message(people("city,age,class\n\"A\nB\",1,x\nA,old,y\n")));
        assertEquals("t.csv:3: each row must have a label, but column 'class' has nothing here: take the row out",
                message(people("city,age,class\nA,1,x\nA,1,\n")));
        assertEquals("t.csv: there must be at least 2 rows, one of them for validation, but there are 1",
                message(people("city,age,class\nA,1,x\n")));
        assertEquals("t.csv: column 'class' must have at least 2 classes, but has only [x]",
                message(people("city,age,class\nA,1,x\nB,1,x\n")));
        assertEquals("t.csv: Column 'age' has no numbers in the rows for training: leave it out",
                message(people("city,age,class\nA,,x\nB,NA,y\n")));
        assertEquals("t.csv: the table has no column to learn from besides its label",
                message(TableData.csv(file("class\nx\ny\n")).inferred().label("class")));
        assertTrue(message(people("city,age,class\nA,1,\"x\n")).contains("line 2"), "a quote that is not closed");
        Files.write(folder.resolve("t.csv"), "city,age,class\nÄ,1,x\n".getBytes(StandardCharsets.ISO_8859_1));
        assertTrue(message(TableData.csv(folder.resolve("t.csv")).category("city").label("class")).contains("UTF-8"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0x1", "1f", "Infinity", "1e999", "1,5", "--1", "1 2", "∞"})
    void refusesWhatIsNoDecimalNumber(String cell) throws IOException {
        String wrong = message(people("city,age,class\nA,\"" + cell + "\",x\nB,1,y\n"));
        assertTrue(wrong.startsWith("t.csv:2: column 'age' must have numbers, but here is '" + cell + "'"), wrong);
    }

    @Test
    void takesOtherSeparatorsAndMissingTexts() throws IOException {
        TableData.Examples read = TableData.csv(file("city;age;class\nNA;none;x\nNA;1;y\nNA;2;x\n")).separator(';')
                .missing("none").category("city").number("age").label("class").read();
        assertEquals(new CategoryColumn("city", List.of("NA")), read.encoding().columns().getFirst());
    }

    @Test
    void refusesAnIncompleteDescription() throws IOException {
        TableData table = TableData.csv(file("a,b\n1,2\n"));
        assertThrows(IllegalStateException.class, () -> table.label("b").read());
        assertThrows(IllegalStateException.class, () -> table.number("a").read());
        assertThrows(IllegalArgumentException.class, () -> table.number("a").category("a"));
        assertThrows(IllegalArgumentException.class, () -> table.number("a").label("a"));
        assertThrows(IllegalArgumentException.class, () -> table.label("a").number("a"));
    }

    @Test
    void refusesRowsThatLackAColumn() {
        TableEncoding encoding = new TableEncoding(
                List.of(new NumberColumn("age", 0, 1, false), new CategoryColumn("city", List.of("A"))), "class",
                List.of("x", "y"), Set.of("", "NA"));
        assertEquals("Row 1 must have a text for each of the columns [age, city], but has none for 'city': give the "
                + "empty text for a missing value",
                assertThrows(IllegalArgumentException.class, () -> encoding
                        .encode(List.of(Map.of("age", "1", "city", "A"), Map.of("age", "1", "town", "A"))))
                        .getMessage());
        assertEquals("Row 0, column 'age': there must be a number, or one of [, NA] for a missing one, but there is "
                + "'old'",
                assertThrows(IllegalArgumentException.class,
                        () -> encoding.encode(List.of(Map.of("age", "old", "city", "A")))).getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "[]", "{\"format\":\"other\"}",
            "{\"format\":\"seriatim table\",\"version\":2}",
            "{\"format\":\"seriatim table\",\"version\":1,\"label\":\"l\",\"classes\":[\"a\",\"a\"],\"missing\":[],"
                    + "\"columns\":[{\"name\":\"n\",\"type\":\"number\",\"mean\":0,\"deviation\":1,"
                    + "\"marksMissing\":false}]}",
            "{\"format\":\"seriatim table\",\"version\":1,\"label\":\"l\",\"classes\":[\"a\",\"b\"],\"missing\":[],"
                    + "\"columns\":[{\"name\":\"n\",\"type\":\"number\",\"mean\":0,\"deviation\":0,"
                    + "\"marksMissing\":false}]}",
            "{\"format\":\"seriatim table\",\"version\":1,\"label\":\"l\",\"classes\":[\"a\",\"b\"],\"missing\":[],"
                    + "\"columns\":[{\"name\":\"l\",\"type\":\"category\",\"values\":[\"a\"]}]}",
            "{\"format\":\"seriatim table\",\"version\":1,\"label\":\"l\",\"classes\":[\"a\",\"b\"],\"missing\":[],"
                    + "\"columns\":[{\"name\":\"c\",\"type\":\"category\",\"values\":[\"b\",\"a\"]}]}",
            "{\"format\":\"seriatim table\",\"version\":1,\"label\":\"l\",\"classes\":[\"a\",\"b\"],\"missing\":[\"\",\"\"],"
                    + "\"columns\":[{\"name\":\"c\",\"type\":\"text\",\"values\":[]}]}"})
    void refusesAWrongEncoding(String json) throws IOException {
        Path saved = Files.writeString(folder.resolve(TableEncoding.FILE), json);
        String wrong = String
                .valueOf(assertThrows(FileFormatException.class, () -> TableEncoding.load(saved)).getMessage());
        assertTrue(wrong.startsWith(saved.toString()), wrong);
    }
}

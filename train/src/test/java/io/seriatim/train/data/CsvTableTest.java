package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CsvTableTest {
    @TempDir
    Path folder;

    private LabelledData read(String content) throws IOException {
        return ArrayPairs.read(Files.writeString(folder.resolve("t.csv"), content));
    }

    private static List<Tensor> all(Dataset dataset) throws IOException {
        return dataset.batch(IntStream.range(0, dataset.size()).toArray());
    }

    @Test
    void readsNumbersWithAHeader() throws IOException {
        LabelledData data = read("\uFEFFa, \"b\",label\r\n1,2.5,0\r\n\r\n -3e2 ,+.5, 2 \r\n7,8,1");
        assertEquals(new Field("x", DType.FLOAT32, Shape.of(2)), data.input());
        assertEquals(new Field("y", DType.INT64, Shape.of(1)), data.label());
        assertEquals(3, data.classes());
        List<Tensor> training = all(data.split().training());
        assertArrayEquals(new float[]{1, 2.5f, -300, 0.5f}, training.getFirst().toFloatArray());
        assertArrayEquals(new long[]{0, 2}, training.getLast().toLongArray());
        assertArrayEquals(new float[]{7, 8}, all(data.split().validation()).getFirst().toFloatArray());
    }

    @Test
    void readsNumbersWithoutAHeader() throws IOException {
        LabelledData data = read("\uFEFF1,0\n2,1\n");
        assertArrayEquals(new float[]{1}, all(data.split().training()).getFirst().toFloatArray());
        assertArrayEquals(new long[]{1}, all(data.split().validation()).getLast().toLongArray());
    }

    @Test
    void oneLabelWithAPointMakesAllOfThemValues() throws IOException {
        LabelledData data = read("1,-7\n2,1000000\n3,1e2\n");
        assertEquals(0, data.classes());
        assertEquals(new Field("y", DType.FLOAT32, Shape.of(1)), data.label());
        assertArrayEquals(new float[]{-7, 1_000_000}, all(data.split().training()).getLast().toFloatArray());
        assertEquals(0, read("1,2.0\n1,2\n").classes());
        assertEquals(3, read("1,2\n1,2\n").classes());
    }

    @Test
    void aTableMayBeLarge() throws IOException {
        int columns = 12;
        LabelledData data = read(IntStream.range(0, 5_000)
                .mapToObj(row -> IntStream.range(0, columns).mapToObj(i -> Integer.toString(row * columns + i))
                        .collect(Collectors.joining(",")) + ","
                        + row % 3)
                .collect(Collectors.joining("\n")));
        assertEquals(4_500, data.split().training().size());
        float[] held = all(data.split().validation()).getFirst().toFloatArray();
        for (int i = 0; i < held.length; i++) {
            assertEquals((i / columns * 10 + 9) * columns + i % columns, held[i]);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    1,2;3,x                | :2:3: there must be a number, but there is 'x'
                    1,2;3,                 | :2:3: there must be a number, but there is nothing
                    1,2;,4                 | :2:1: there must be a number, but there is nothing
                    1,2;3,  nan            | :2:5: there must be a number, but there is 'nan'
                    1,2;0x1p3,4            | :2:1: there must be a number, but there is '0x1p3'
                    1,2;3f,4               | :2:1: there must be a number, but there is '3f'
                    1,2;1e-e,4             | :2:1: there must be a number, but there is '1e-e'
                    1,2;1,1e39             | :2:3: a number must be within the range of float32, but this is 1e39
                    1,b;3,4                | :1:3: there must be a number, but there is 'b'; a header has no numbers at all
                    a,b;c,4                | :2:1: there must be a number, but there is 'c'
                    a,b;1,2,3              | :2:5: a line must have 2 columns, as the first one, but has 3
                    a,b,c;;1,2             | :3:3: a line must have 3 columns, as the first one, but has 2
                    1;2                    | :1:1: a table must have at least 2 columns, the last one with the label, but this line has 1
                    1,0;2,3;3,-1;4,-2      | :3:3: a label that is a whole number is a class from 0 to 65535, but this is -1: write values
                    1,0;2,65536            | :2:3: a label that is a whole number is a class
                    a,b                    | : the table has a header, but no numbers
                    ;                      | : the file is empty
                    1,2                    | : there must be at least 2 examples, one of them for validation, but there is 1
                    """)
    void namesLineAndColumn(String lines, String expected) {
        String message = String
                .valueOf(assertThrows(FileFormatException.class, () -> read(lines.replace(';', '\n'))).getMessage());
        assertTrue(message.startsWith(folder.resolve("t.csv") + expected), message);
    }

    @Test
    void bytesThatAreNoTextAreNoTable() throws IOException {
        Path file = Files.write(folder.resolve("t.csv"), new byte[]{'1', ',', '2', '\n', (byte) 0xff, ',', '1'});
        String message = String
                .valueOf(assertThrows(FileFormatException.class, () -> ArrayPairs.read(file)).getMessage());
        assertTrue(message.contains("t.csv:1: a table must be in UTF-8"), message);
    }

    @Test
    void twoTablesAreASplit() throws IOException {
        Files.writeString(folder.resolve("train.csv"), "a,b\n1,0\n2,1\n");
        Files.writeString(folder.resolve("test.csv"), "3,1\n");
        LabelledData data = ArrayPairs.read(folder);
        assertEquals(2, data.split().training().size());
        assertArrayEquals(new float[]{3}, all(data.split().validation()).getFirst().toFloatArray());
        Files.writeString(folder.resolve("test.csv"), "3,2\n");
        assertTrue(
                message().contains("test.csv: a label must be from 0 to 1, as in training, but that of example 0 is 2"),
                message());
        Files.writeString(folder.resolve("test.csv"), "3,0.5\n");
        assertTrue(message().contains("test.csv: examples for validation must be as those of training"), message());
        Files.move(folder.resolve("test.csv"), folder.resolve("more.csv"));
        assertTrue(message().contains("[more.csv, train.csv]: name one of these"), message());
        Files.delete(folder.resolve("more.csv"));
        assertEquals(1, ArrayPairs.read(folder).split().validation().size());
    }

    private String message() {
        return String.valueOf(assertThrows(FileFormatException.class, () -> ArrayPairs.read(folder)).getMessage());
    }
}

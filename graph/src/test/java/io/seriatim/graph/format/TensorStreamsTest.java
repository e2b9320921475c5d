package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.SelectedRows;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class TensorStreamsTest {
    @TempDir
    private Path folder = Path.of("");

    static byte[] bytes(TensorStreams.LodTensor... tensors) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (TensorStreams.LodTensor tensor : tensors) {
            TensorStreams.write(out, tensor);
        }
        return out.toByteArray();
    }

    private static List<TensorStreams.LodTensor> parse(byte[] bytes, int count) throws IOException {
        return TensorStreams.readAll("bytes", new ByteArrayInputStream(bytes), bytes.length, count);
    }

    private static TensorStreams.LodTensor plain(float... values) {
        return new TensorStreams.LodTensor(Tensor.of(values));
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = {"UINT16", "UINT32", "UINT64"})
    void readsWhatItWrites(DType dtype) throws IOException {
        for (long[] dims : new long[][]{{}, {0}, {13}, {2, 0, 3}, {3, 4, 5}, {1, 2, 1, 3, 2}}) {
            Tensor tensor = Tensor.allocate(dtype, dims);
            for (long i = 0; i < tensor.memory().byteSize(); i++) {
                tensor.memory().set(ValueLayout.JAVA_BYTE, i, (byte) (dtype == DType.BOOL ? i % 2 : i % 50));
            }
            Path file = folder.resolve("x");
            TensorStreams.write(file,
                    List.of(new TensorStreams.LodTensor(tensor, List.of(new long[]{0, 2}, new long[]{0, 1, 3}))));
            TensorStreams.LodTensor back = TensorStreams.read(file);
            assertEquals(tensor.spec(), back.tensor().spec());
            assertArrayEquals(tensor.toDoubleArray(), back.tensor().toDoubleArray());
            assertEquals(2, back.lod().size());
            assertArrayEquals(new long[]{0, 1, 3}, back.lod().get(1));
            assertArrayEquals(Files.readAllBytes(file), bytes(back));
        }
    }

    /** Files that Paddle writes are read, and written with the same bytes. */
    @Test
    void readsAndWritesWhatPaddleWrites() throws IOException {
        Map<String, Tensor> entries = GoldenFiles.entries("exports");
        for (String key : entries.keySet().stream().filter(each -> each.startsWith("stream/") && !each.endsWith("rows"))
                .toList()) {
            byte[] bytes = GoldenFiles.bytes(entries, key);
            TensorStreams.LodTensor read = parse(bytes, 1).getFirst();
            assertArrayEquals(bytes, bytes(read), key);
            double[] expected = switch (key) {
                case "stream/scalar" -> new double[]{2.5};
                case "stream/empty" -> new double[0];
                case "stream/bool" -> new double[]{0, 1, 0, 1, 0, 1};
                default -> new double[]{0, 1, 2, 3, 4, 5};
            };
            assertArrayEquals(expected, read.tensor().toDoubleArray(), key);
            assertEquals(key.equals("stream/lod") ? 2 : 0, read.lod().size());
        }
        byte[] bytes = GoldenFiles.bytes(entries, "stream/rows");
        SelectedRows rows = TensorStreams.readRows("rows", new ByteArrayInputStream(bytes), bytes.length);
        assertArrayEquals(new long[]{5, 1, 5}, rows.rows().toLongArray());
        assertEquals(7, rows.height());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        TensorStreams.writeRows(out, rows);
        assertArrayEquals(bytes, out.toByteArray());
    }

    /** The bytes that the format demands, put together by hand. */
    @Test
    void hasTheBytesOfTheFormat() throws IOException {
        ByteBuffer expected = ByteBuffer.allocate(4 + 8 + 8 + 24 + 4 + 4 + 6 + 12).order(ByteOrder.LITTLE_ENDIAN);
        expected.putInt(0).putLong(1).putLong(24).putLong(0).putLong(1).putLong(3);
        expected.putInt(0).putInt(6).put(new byte[]{8, 5, 16, 3, 16, 1}).putFloat(1).putFloat(2).putFloat(3);
        Tensor tensor = Tensor.of(new float[]{1, 2, 3}, 3, 1);
        assertArrayEquals(expected.array(), bytes(new TensorStreams.LodTensor(tensor, List.of(new long[]{0, 1, 3}))));
    }

    @Test
    void rowsHaveTheBytesOfTheFormat() throws IOException {
        ByteBuffer expected = ByteBuffer.allocate(4 + 8 + 16 + 8 + 4 + 4 + 4 + 8).order(ByteOrder.LITTLE_ENDIAN);
        expected.putInt(0).putLong(2).putLong(5).putLong(1).putLong(7).putInt(0).putInt(4).put(new byte[]{8, 5, 16, 2})
                .putFloat(1)
                .putFloat(2);
        SelectedRows rows = new SelectedRows(Tensor.of(new long[]{5, 1}), Tensor.of(new float[]{1, 2}), 7);
        TensorStreams.writeRows(folder.resolve("rows"), rows);
        assertArrayEquals(expected.array(), Files.readAllBytes(folder.resolve("rows")));
        SelectedRows back = TensorStreams.readRows(folder.resolve("rows"));
        assertEquals(7, back.height());
        assertArrayEquals(new long[]{5, 1}, back.rows().toLongArray());
        assertArrayEquals(new float[]{1, 2}, back.values().toFloatArray());
    }

    @Test
    void writesViewsInTheirOrder() throws IOException {
        Tensor view = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3).transpose();
        assertArrayEquals(new float[]{1, 4, 2, 5, 3, 6},
                parse(bytes(new TensorStreams.LodTensor(view)), 1).getFirst().tensor().toFloatArray());
        Tensor part = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3).select(0, 1);
        assertArrayEquals(new float[]{4, 5, 6},
                parse(bytes(new TensorStreams.LodTensor(part)), 1).getFirst().tensor().toFloatArray());
    }

    @Test
    void anyByteButZeroIsTrue() throws IOException {
        byte[] bytes = bytes(new TensorStreams.LodTensor(Tensor.of(DType.BOOL, new long[]{0, 1, 1})));
        bytes[bytes.length - 1] = 7;
        Tensor tensor = parse(bytes, 1).getFirst().tensor();
        assertEquals(1, tensor.memory().get(ValueLayout.JAVA_BYTE, 2));
        assertArrayEquals(new long[]{0, 1, 1}, tensor.toLongArray());
    }

    @Test
    void readsSeveral() throws IOException {
        byte[] bytes = bytes(plain(1, 2), plain(3), plain());
        List<TensorStreams.LodTensor> tensors = parse(bytes, 3);
        assertArrayEquals(new float[]{3}, tensors.get(1).tensor().toFloatArray());
        assertEquals(TensorSpec.of(DType.FLOAT32, 0), tensors.get(2).tensor().spec());
        assertMessage("bytes, byte 32: the file must end after 1 tensor, but " + (bytes.length - 32) + " bytes follow",
                bytes, 1);
        assertMessage("bytes (tensor 3), byte " + bytes.length + ": the end, after 3 tensors of 4", bytes, 4);
    }

    private static void assertMessage(String message, byte[] bytes, int count) {
        assertEquals(message, assertThrows(FileFormatException.class, () -> parse(bytes, count)).getMessage());
    }

    /** A stream that is cut at any place, also in the data of its last tensor, is an error. */
    @Test
    void refusesEveryCut() throws IOException {
        byte[] bytes = bytes(plain(1, 2),
                new TensorStreams.LodTensor(Tensor.of(new long[]{1}), List.of(new long[]{0, 1})));
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            String message = assertThrows(FileFormatException.class, () -> parse(cut, 2), "cut at " + length)
                    .getMessage();
            assertTrue(String.valueOf(message).matches("bytes( \\(tensor [01]\\))?, byte \\d+: .*"), message);
        }
        SelectedRows rows = new SelectedRows(Tensor.of(new long[]{5, 1}), Tensor.of(new float[]{1, 2}), 7);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        TensorStreams.writeRows(out, rows);
        for (int length = 0; length < out.size(); length++) {
            byte[] cut = Arrays.copyOf(out.toByteArray(), length);
            assertThrows(FileFormatException.class,
                    () -> TensorStreams.readRows("rows", new ByteArrayInputStream(cut), cut.length),
                    "cut at " + length);
        }
    }

    /**
     * Errors at certain bytes of an otherwise valid stream of float32 [2], which has its LoD's count at 4, its version
     * at 12, its description's size at 16, and the description at 20.
     */
    static Stream<Arguments> hostile() {
        byte[] trillion = {8, 5, 16, (byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, 0x20};
        byte[] overflow = {8, 5, 16, (byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, 0x20, 16,
                (byte) 0x80, (byte) 0x80,
                (byte) 0x80, (byte) 0x80, (byte) 0x80, 0x20};
        byte[] negative = {8, 5, 16, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1};
        byte[] many = new byte[68];
        for (int i = 2; i < many.length; i += 2) {
            many[i] = 16;
            many[i + 1] = 1;
        }
        many[0] = 8;
        many[1] = 5;
        return Stream.of(
                Arguments.of(trillion, 20,
                        "the data of float32 [1099511627776] of 4398046511104 bytes where 8 are left"),
                Arguments.of(overflow, 20,
                        "The shape [1099511627776, 1099511627776] has more elements than a long can count"),
                Arguments.of(negative, 20, "A dimension must be 0 or more, but the shape is [-1]"),
                Arguments.of(many, 20, "a tensor has at most 32 dimensions, but has 33"),
                Arguments.of(new byte[]{8, 19, 16, 1}, 20, "There are no tensors of Paddle's type 19 (size_t) here"),
                Arguments.of(new byte[]{16, 2}, 20, "a tensor without the type of its elements"),
                Arguments.of(new byte[]{8, 5, 18, 9, 1}, 22, "a length of 9 bytes where 1 are left"));
    }

    @ParameterizedTest
    @MethodSource
    void hostile(byte[] description, int offset, String message) {
        ByteBuffer bytes = ByteBuffer.allocate(20 + description.length + 8).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(0).putLong(0).putInt(0).putInt(description.length).put(description);
        FileFormatException e = assertThrows(FileFormatException.class, () -> parse(bytes.array(), 1));
        assertTrue(String.valueOf(e.getMessage()).contains("byte ") && String.valueOf(e.getMessage()).contains(message),
                e.getMessage());
        if (!message.startsWith("the data")) {
            assertTrue(String.valueOf(e.getMessage()).startsWith("bytes, byte " + offset + ": "), e.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"0|1|byte 0: the version of the LoD must be 0, but is 1",
            "12|-1|byte 12: the version of a tensor must be 0, but is 4294967295",
            "4|-1|byte 4: 4294967295 levels of LoD, but 20 bytes are left",
            "8|-1|byte 4: 18446744069414584320 levels of LoD",
            "4|1|byte 12: a level of LoD has 8 bytes for each offset and fits into what is left, but has "
                    + "17179869184 bytes where 12 are left",
            "16|-1|byte 16: the description of a tensor has from 0 to 4096 bytes, but has -1",
            "16|2147483647|byte 16: the description of a tensor has from 0 to 4096 bytes, but has 2147483647",
            "16|100|byte 20: the description of a tensor of 100 bytes where 12 are left"})
    void refusesHostileSizes(int at, int value, String message) throws IOException {
        byte[] bytes = bytes(plain(1, 2));
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
        FileFormatException e = assertThrows(FileFormatException.class, () -> parse(bytes, 1));
        assertTrue(String.valueOf(e.getMessage()).contains(message), e.getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"4|-1|byte 4: 18446744073709551615 rows, but 44 bytes are left",
            "12|7|byte 12: row 0 must be from 0 to 6, but is 7",
            "20|-1|byte 20: row 1 must be from 0 to 6, but is -1",
            "28|-1|byte 28: the height of selected rows must be 0 or more, but is -1"})
    void refusesHostileRows(int at, long value, String message) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        TensorStreams.writeRows(out, new SelectedRows(Tensor.of(new long[]{5, 1}), Tensor.of(new float[]{1, 2}), 7));
        byte[] bytes = out.toByteArray();
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(at, value);
        FileFormatException e = assertThrows(FileFormatException.class,
                () -> TensorStreams.readRows("rows", new ByteArrayInputStream(bytes), bytes.length));
        assertTrue(String.valueOf(e.getMessage()).contains(message), e.getMessage());
    }

    @Test
    void aStreamThatEndsEarlyIsAnError() throws IOException {
        byte[] bytes = bytes(plain(1, 2));
        FileFormatException e = assertThrows(FileFormatException.class,
                () -> TensorStreams.readAll("bytes", new ByteArrayInputStream(bytes, 0, 30), bytes.length, 1));
        assertEquals("bytes, byte 30: the end of the file, which had 32 bytes when it was opened", e.getMessage());
    }
}

package io.seriatim.mxnet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which files are read, in all versions of their headers, and what is said about others. */
class MxnetFormatTest {
    private static final int V1 = 0xF993FAC8;
    private static final int V2 = 0xF993FAC9;
    private static final int V3 = 0xF993FACA;

    @TempDir
    private Path folder;

    /** Writes MXNet's lists of arrays. */
    private static final class ListFile {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        ListFile ints(int... values) {
            for (int value : values) {
                out.writeBytes(bytes(4).putInt(value).array());
            }
            return this;
        }

        ListFile longs(long... values) {
            for (long value : values) {
                out.writeBytes(bytes(8).putLong(value).array());
            }
            return this;
        }

        ListFile text(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            longs(bytes.length);
            out.writeBytes(bytes);
            return this;
        }

        /** The end of a header after the dimensions, and three elements. */
        ListFile elements(int type, int bytes) {
            ints(1, 0, type);
            for (int i = 1; i <= 3; i++) {
                ByteBuffer element = ByteBuffer.wrap(new byte[8]).order(ByteOrder.LITTLE_ENDIAN);
                switch (type) {
                    case 0 -> element.putFloat(i);
                    case 1 -> element.putDouble(i);
                    case 2 -> element.putShort(Float.floatToFloat16(i));
                    default -> element.putLong(i);
                }
                out.write(element.array(), 0, bytes);
            }
            return this;
        }

        private static ByteBuffer bytes(int count) {
            return ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        }

        void write(Path file) throws IOException {
            Files.write(file, out.toByteArray());
        }
    }

    private Path symbol(String operator, String attributes) throws IOException {
        return Files.writeString(folder.resolve("m-symbol.json"), """
                {"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "null", "name": "w", "inputs": []},
                {"op": "%s", "name": "y", "attrs": {%s}, "inputs": [[0, 0, 0], [1, 0, 0]]}],
                "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
                """.formatted(operator, attributes));
    }

    private static ListFile list() {
        return new ListFile().longs(0x112, 0, 1);
    }

    private Path parameters(String number) {
        return folder.resolve("m-" + number + ".params");
    }

    private static List<Double> run(InferenceModel model, Tensor x) {
        try (Executor executor = Executor.builder().build()) {
            model.parameters().forEach((name, value) -> executor.scope().setCopy(name, value));
            Tensor y = Objects.requireNonNull(executor
                    .run(model.program(), Map.of("x", x), new Fetches(model.fetches())).all().get("y_output"));
            return Arrays.stream(y.toDoubleArray()).boxed().toList();
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 4, FLOAT32", "1, 8, FLOAT64", "2, 2, FLOAT16", "4, 4, INT32", "6, 8, INT64"})
    void allVersionsOfHeadersAreRead(int type, int bytes, DType dtype) throws IOException {
        Path symbol = symbol("broadcast_add", "");
        List<ListFile> versions = List.of(list().ints(V3, 0, 1).longs(3).elements(type, bytes),
                list().ints(V2, 0, 1).longs(3).elements(type, bytes),
                list().ints(V1, 1).longs(3).elements(type, bytes), list().ints(1, 3).elements(type, bytes));
        for (ListFile version : versions) {
            version.longs(1).text("arg:w").write(parameters("0000"));
            try (InferenceModel model = InferenceModels.load(symbol)) {
                model.program().global().ops().forEach(op -> assertEquals(List.of(), op.builtAt(), op::toString));
                assertEquals(List.of("x"), model.feeds());
                assertEquals(List.of("y_output"), model.fetches());
                assertEquals(List.of(2d, 3d, 4d), run(model, Tensor.of(dtype, new double[]{1, 1, 1}, 3)));
            }
        }
    }

    private Path saved(float value, String number) throws IOException {
        Path file = parameters(number);
        list().ints(V2, 0, 1).longs(1).ints(1, 0, 0, Float.floatToIntBits(value)).longs(1).text("arg:w").write(file);
        return file;
    }

    /** As models are made that share a weight by the name of its variable. */
    @Test
    void variablesOfOneNameAreOne() throws IOException {
        Path symbol = Files.writeString(folder.resolve("m-symbol.json"), """
                {"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "null", "name": "w", "inputs": []},
                {"op": "broadcast_add", "name": "a", "inputs": [[0, 0, 0], [1, 0, 0]]},
                {"op": "null", "name": "w", "inputs": []}, {"op": "null", "name": "x", "inputs": []},
                {"op": "broadcast_mul", "name": "b", "inputs": [[2, 0, 0], [3, 0, 0]]},
                {"op": "broadcast_sub", "name": "y", "inputs": [[5, 0, 0], [4, 0, 0]]}],
                "arg_nodes": [0, 1, 3, 4], "heads": [[6, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
                """);
        saved(3, "0000");
        try (InferenceModel model = InferenceModels.load(symbol)) {
            assertEquals(List.of("x"), model.feeds());
            assertEquals(List.of(7d, 9d), run(model, Tensor.of(DType.FLOAT32, new double[]{-1, 0}, 2)));
        }
    }

    @Test
    void theHighestNumberIsReadUnlessOneIsNamed() throws IOException {
        Path symbol = symbol("broadcast_add", "");
        Path third = saved(3, "0003");
        saved(20, "0020");
        saved(100, "00100");
        Files.writeString(folder.resolve("other-9999.params"), "");
        Tensor x = Tensor.of(new float[]{1}, 1);
        try (InferenceModel highest = InferenceModels.load(symbol);
                InferenceModel named = InferenceModels.load(third)) {
            assertEquals(List.of(101d), run(highest, x));
            assertEquals(List.of(4d), run(named, x));
        }
    }

    @Test
    void aSymbolOfAnotherNameIsKnownByItsContent() throws IOException {
        Path other = folder.resolve("other.json");
        Files.move(symbol("broadcast_add", ""), other);
        list().ints(V2, 0, 1).longs(3).elements(0, 4).longs(1).text("arg:w").write(folder.resolve("other-0000.params"));
        assertTrue(new MxnetFormat().reads(other));
        InferenceModels.load(other).close();
        Files.writeString(other, "{\"base_code\": {\"magic\": \"pir\"}}");
        assertFalse(new MxnetFormat().reads(other));
        assertFalse(new MxnetFormat().reads(folder));
    }

    private String message(Class<? extends Exception> type, Path file) {
        return String.valueOf(assertThrows(type, () -> InferenceModels.load(file)).getMessage());
    }

    @Test
    void missingFilesAreNamed() throws IOException {
        Path symbol = symbol("broadcast_add", "");
        assertTrue(message(NoSuchFileException.class, symbol).contains("m-0000.params"));
        Path parameters = saved(1, "0001");
        Files.delete(symbol);
        assertTrue(message(NoSuchFileException.class, parameters).contains("m-symbol.json"));
    }

    @Test
    void sparseArraysAndTypesWithoutTensorsAreRefusedByName() throws IOException {
        Path symbol = symbol("broadcast_add", "");
        list().ints(V2, 1, 1).longs(3).write(parameters("0000"));
        assertTrue(message(FileFormatException.class, symbol).contains("array 0 is row_sparse"));
        list().ints(V2, 0, 1).longs(1).ints(1, 0, 77, 0).longs(1).text("arg:w").write(parameters("0000"));
        assertTrue(message(FileFormatException.class, symbol).contains("byte 52: array 0 has elements of type 77"));
        list().ints(V2, 0, 2).longs(1L << 31, 1L << 31).ints(1, 0, 0).write(parameters("0000"));
        assertTrue(message(FileFormatException.class, symbol).contains("byte"));
    }

    @Test
    void allUnknownOperatorsAreNamedWithTheirNodesAndAdvice() throws IOException {
        Files.writeString(folder.resolve("m-symbol.json"), """
                {"nodes": [{"op": "null", "name": "x", "inputs": []},
                {"op": "Custom", "name": "a", "inputs": [[0, 0]]}, {"op": "Custom", "name": "b", "inputs": [[1, 0]]},
                {"op": "_foreach", "name": "c", "inputs": [[2, 0]]}], "heads": [[3, 0]]}
                """);
        saved(1, "0000");
        String message = message(IllegalArgumentException.class, folder.resolve("m-symbol.json"));
        assertTrue(
                message.endsWith("Custom (2 nodes, 'a', 'b'), _foreach (1 node, 'c'): control flow is not read; unroll"
                        + " loops and export each branch as a model; custom operators are Python code, which the file does not"
                        + " hold; write them with MXNet's operators"),
                message);
    }

    @Test
    void attributesThatAreWrongAreNamedWithTheirNode() throws IOException {
        saved(1, "0000");
        String message = message(FileFormatException.class, symbol("LeakyReLU", "\"act_type\": \"none\""));
        assertTrue(message.endsWith("node 2 'y' (LeakyReLU): the attribute 'act_type' must be leaky, prelu, elu, selu, "
                + "gelu or rrelu, but is \"none\""), message);
        String window = message(FileFormatException.class,
                symbol("Convolution", "\"kernel\": \"(3, x)\", \"num_filter\": \"1\""));
        assertTrue(window.contains("the attribute 'kernel' must be a number, but is \"(3, x)\""), window);
    }

    @Test
    void inputsHaveTheShapesAndTypesThatTheFileSays() throws IOException {
        Files.writeString(folder.resolve("m-symbol.json"), """
                {"nodes": [{"op": "null", "name": "x", "attrs": {"__shape__": "(0, 5)"}, "inputs": []},
                {"op": "null", "name": "w", "inputs": []},
                {"op": "FullyConnected", "name": "y", "attrs": {"num_hidden": "1", "no_bias": "True"},
                "inputs": [[0, 0], [1, 0]]}], "heads": [[2, 0]]}
                """);
        list().ints(V2, 0, 2).longs(1, 5).ints(1, 0, 1).longs(0, 0, 0, 0, 0).longs(1).text("arg:w")
                .write(parameters("0000"));
        try (InferenceModel model = InferenceModels.load(folder.resolve("m-symbol.json"))) {
            assertEquals("float64[-1, 5]", model.program().global().get("x").tensor().toString());
        }
    }

    @Test
    void modelsAreNotWritten() throws IOException {
        assertFalse(new MxnetFormat().writes(folder.resolve("m-symbol.json")));
        symbol("broadcast_add", "");
        assertEquals("1 × broadcast_add\n", new MxnetFormat().listing(folder.resolve("m-symbol.json")));
    }
}

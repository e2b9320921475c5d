package io.seriatim.benchmarks.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.common.Printer;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchModelsCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int bench(String... args) {
        return new CommandLine(new BenchModelsCommand()).setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute(args);
    }

    /** A field of a protocol buffer with bytes. */
    private static byte[] field(int number, byte[]... parts) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            body.writeBytes(part);
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(number << 3 | 2);
        all.write(body.size());
        all.writeBytes(body.toByteArray());
        return all.toByteArray();
    }

    private static byte[] number(int field, int value) {
        return new byte[]{(byte) (field << 3), (byte) value};
    }

    private static byte[] text(int field, String value) {
        return field(field, value.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] value(int field, String name) {
        byte[] shape = field(2, field(1, text(2, "n")), field(1, number(1, 3)));
        return field(field, text(1, name), field(2, field(1, number(1, 1), shape)));
    }

    /** A model y = Relu(x) with x of float32 [n, 3]. */
    private static byte[] model() {
        ByteArrayOutputStream model = new ByteArrayOutputStream();
        model.writeBytes(number(1, 8));
        model.writeBytes(field(7, field(1, text(1, "x"), text(2, "y"), text(4, "Relu")), text(2, "tiny"),
                value(11, "x"), value(12, "y")));
        model.writeBytes(field(8, text(1, ""), number(2, 17)));
        return model.toByteArray();
    }

    @Test
    void aModelRunsWithoutPeers() throws Exception {
        Files.write(folder.resolve("tiny.onnx"), model());
        Path given = Files.createDirectory(folder.resolve("given"));
        Files.write(given.resolve("model.onnx"), model());
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        for (byte[] part : List.of(number(1, 2), number(1, 3), number(2, 1), field(9, new byte[24]))) {
            input.writeBytes(part);
        }
        Files.write(given.resolve("input_0.pb"), input.toByteArray());
        Path json = folder.resolve("models.json");
        assertEquals(0, bench(folder.toString(), "--quick", "--python", folder.resolve("none").toString(), "--json",
                json.toString()), err::toString);
        assertTrue(err.toString().contains("none' cannot be started: --python names"), err::toString);
        assertTrue(out.toString().contains("tiny "), out::toString);
        assertTrue(out.toString().contains("No peer ran"), out::toString);
        assertTrue(Files.readString(json).contains("\"model\": \"given\", \"threads\": 1"));
        Files.write(given.resolve("input_0.pb"), new byte[]{8});
        assertEquals(1, bench(given.toString(), "--quick", "--python", folder.resolve("none").toString()));
        assertTrue(err.toString().contains("the tensor is cut off"), err::toString);
    }

    @Test
    void operationsOfAModelStandBesideThoseOfPeers() {
        Explanation why = new Explanation(
                List.of(new Operation(1, "conv2d", 30), new Operation(-1, "copy", 5), new Operation(4, "relu", 10)),
                List.of("a", "b"), new Explanation.Limits(1e9, 1e9));
        why.add("a", List.of(new Operation(0, "Conv", 20), new Operation(-1, "Reorder", 1), new Operation(3, "Pad", 1),
                new Operation(4, "Relu", 7), new Operation(9, "Copy", 2)));
        why.add("b", List.of(new Operation(1, "Conv", 25), new Operation(4, "Relu", 4)));
        List<String> lines = why.table().text().lines().map(line -> line.replaceAll(" +", " ").strip()).toList();
        assertEquals("Seriatim µs a, µs b, µs ÷ GFLOP/s of arithmetic GB/s of memory", lines.getFirst());
        assertEquals("copy, relu 15.0 11.0 4.0 3.75 0.0 0 % 0.0 0 %", lines.get(1).replace("relu, copy", "copy, relu"));
        assertEquals("conv2d 30.0 20.0 25.0 1.50 0.0 0 % 0.0 0 %", lines.get(2));
    }

    @Test
    void aModelIsExplainedWithoutPeers() throws Exception {
        Files.write(folder.resolve("tiny.onnx"), model());
        assertEquals(0, bench(folder.toString(), "--quick", "--python", folder.resolve("none").toString(), "--why",
                "tiny"), err::toString);
        assertTrue(out.toString().contains("tiny, 1 thread: what takes longest"), out::toString);
        assertTrue(out.toString().lines().anyMatch(line -> line.startsWith("relu (")), out::toString);
        assertEquals(2, bench(folder.toString(), "--quick", "--python", folder.resolve("none").toString(), "--why",
                "other"));
        assertTrue(err.toString().contains("--why must be the name of a model, but is 'other'"), err::toString);
    }

    @Test
    void tablesHaveRatiosToTheFasterPeer() {
        List<ModelFigures> figures = List.of(
                new ModelFigures("a", 1, List.of(3.0, 2.0, 9.0),
                        Map.of("onnxruntime", List.of(2.0), "openvino", List.of(1.5)), OptionalDouble.of(1e-6)),
                new ModelFigures("b", 1, List.of(1.0), Map.of("onnxruntime", List.of(2.0)), OptionalDouble.of(0.5)));
        new ModelTables(figures, List.of("onnxruntime", "openvino")).print(new Printer(new PrintWriter(out), false));
        String text = out.toString().replaceAll(" +", " ");
        assertTrue(text.contains("\na 1 3.000 2.000 1.500 2.00 1.0e-06 "), text);
        assertTrue(text.contains("\nb 1 1.000 2.000 – 0.50 5.0e-01 WRONG "), text);
        assertTrue(text.contains("\n1 1.00 2 "), text);
        assertFalse(figures.get(1).isRight());
        assertTrue(
                ModelsJson.text(Map.of("cores", 2), Map.of("openvino", "1"), figures).contains("\"ratio\": 2.00000"));
    }

    @Test
    void differencesAreRelativeToTheLargestValue() {
        assertEquals(0.25, Differences.of(new double[]{1, 4}, new double[]{2, 4}));
        assertEquals(0, Differences.of(new double[]{Double.NaN, 1}, new double[]{Double.NaN, 1}));
        assertEquals(Double.POSITIVE_INFINITY, Differences.of(new double[]{Double.NaN, 1}, new double[]{0, 1}));
    }

    @Test
    void theHalfThatIsLeftOutIsFixed() {
        assertTrue(ModelFile.isLeftOut("mobilenet_v3_small"));
        assertFalse(ModelFile.isLeftOut("resnet18"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    --threads | 1,0 | --threads must be at least 1, but is 0
                    --peer | tvm | --peer must be of onnxruntime, openvino, but is 'tvm'
                    --filter | ( | --filter must be a regular expression, but is '('
                    --filter | zz | --filter must match the name of a model, but is 'zz'; the models are tiny
                    --json | /none/f | --json must be a file in a folder that exists, but is '/none/f'
                    """)
    void aWrongValueIsAUsageError(String option, String value, String message) throws Exception {
        Files.write(folder.resolve("tiny.onnx"), model());
        assertEquals(2, bench(folder.toString(), option, value));
        assertTrue(err.toString().startsWith(message), err::toString);
    }

    @Test
    void aFolderWithoutModelsIsAUsageError() {
        assertEquals(2, bench());
        assertEquals(2, bench(folder.resolve("x").toString()));
        assertEquals(2, bench(folder.toString()));
        assertTrue(err.toString().contains("has no file .onnx and no folder with model.onnx"), err::toString);
    }
}

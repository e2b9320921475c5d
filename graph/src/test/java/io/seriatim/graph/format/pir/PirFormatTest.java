package io.seriatim.graph.format.pir;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.json.JsonReader;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models that PaddlePaddle 3.3.1 saved, with the outputs that it computes: see {@code tools/golden/pir}. */
class PirFormatTest {
    @TempDir
    private static Path folder;
    private static final double TOLERANCE = 1e-5;

    @BeforeAll
    static void unpack() throws IOException {
        try (InputStream in = Objects.requireNonNull(PirFormatTest.class.getResourceAsStream("/golden/pir.zip"));
                ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Files.copy(zip, folder.resolve(entry.getName()));
            }
        }
    }

    static List<String> models() throws IOException {
        List<String> names = new ArrayList<>();
        try (InputStream in = Objects.requireNonNull(PirFormatTest.class.getResourceAsStream("/golden/pir.zip"));
                ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                if (entry.getName().endsWith(".npz")) {
                    names.add(entry.getName().replace(".npz", ""));
                }
            }
        }
        return names;
    }

    private static void check(String name, InferenceModel model) throws IOException {
        Map<String, Tensor> arrays = Npz.read(folder.resolve(name + ".npz"));
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        for (String feed : model.feeds()) {
            feeds.put(feed, Objects.requireNonNull(arrays.get("in/" + feed), feed));
        }
        Interpreter interpreter = Interpreter.of(Kernels.system());
        model.parameters().forEach(interpreter::set);
        Map<String, Tensor> results = interpreter.run(model.program(), feeds, model.fetches());
        long wanted = arrays.keySet().stream().filter(key -> key.startsWith("out/")).count();
        assertEquals(wanted, model.fetches().size());
        for (int i = 0; i < wanted; i++) {
            Tensor want = Objects.requireNonNull(arrays.get("out/fetch_name_" + i));
            Tensor got = Objects.requireNonNull(results.get(model.fetches().get(i)));
            assertEquals(want.spec(), got.spec(), name);
            double[] expected = doubles(want);
            double[] actual = doubles(got);
            double largest = 1e-3;
            for (double each : expected) {
                largest = Math.max(largest, Math.abs(each));
            }
            for (int j = 0; j < expected.length; j++) {
                assertEquals(expected[j], actual[j], TOLERANCE * largest, name + ", " + model.fetches().get(i));
            }
        }
    }

    private static double[] doubles(Tensor tensor) {
        return tensor.dtype().isFloating()
                ? tensor.toDoubleArray()
                : Arrays.stream(tensor.toLongArray()).asDoubleStream().toArray();
    }

    @ParameterizedTest
    @MethodSource("models")
    void modelsGiveTheNumbersOfPaddle(String name) throws IOException {
        try (InferenceModel model = InferenceModels.load(folder.resolve(name + ".json"))) {
            check(name, model);
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void writtenModelsAreReadAgain(String name, @TempDir Path written) throws IOException {
        Path file = written.resolve(name + ".json");
        try (InferenceModel model = InferenceModels.load(folder.resolve(name + ".json"))) {
            InferenceModels.save(file, model);
        }
        assertTrue(Files.exists(written.resolve(name + ".pdiparams")));
        try (InferenceModel model = InferenceModels.load(file)) {
            check(name, model);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gru", "detection", "interp_shape_dynamic", "control"})
    void modelsAreConvertedToPaddle2AndBack(String name, @TempDir Path written) throws IOException {
        Path file = written.resolve(name + ".pdmodel");
        try (InferenceModel model = InferenceModels.load(folder.resolve(name + ".json"))) {
            InferenceModels.save(file, model);
        }
        Path back = written.resolve(name + "-back.json");
        try (InferenceModel model = InferenceModels.load(file)) {
            check(name, model);
            InferenceModels.save(back, model);
        }
        try (InferenceModel model = InferenceModels.load(back)) {
            check(name, model);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "1", "3", "4", "9"})
    void allVersionsAreRead(String version) throws IOException {
        String text = Files.readString(folder.resolve("interp_nearest.json"))
                .replace("\"version\":4", "\"version\":" + version).replace("0.a_f64", "0.a_f32")
                .replace("0.a_i64", "0.a_i32");
        PirReader.Loaded loaded = PirReader
                .read(JsonReader.parse("test.json", text.getBytes(StandardCharsets.UTF_8)));
        assertEquals(List.of("x0"), loaded.feeds());
        assertEquals(List.of("fetch_name_0", "fetch_name_1"), loaded.fetches());
    }

    @Test
    void theTableNamesWhatThereIs() {
        for (PirOperation each : PirTable.get().all()) {
            Operation schema = Operations.system().find(each.type());
            assertNotNull(schema, each.type());
            List<String> inputs = schema.inputs().stream().map(Slot::name).toList();
            List<String> outputs = schema.outputs().stream().map(Slot::name).toList();
            for (PirOperation.Operand operand : each.operands()) {
                if (operand instanceof PirOperation.SlotOperand(String slot, boolean _)) {
                    assertTrue(inputs.contains(slot), each + " has no " + slot);
                }
                if (operand instanceof PirOperation.AttributeOperand given) {
                    String attribute = given.attribute();
                    assertTrue(attribute == null || schema.attribute(attribute) != null, each::toString);
                    assertTrue(given.tensor() == null || inputs.contains(given.tensor()), each::toString);
                    assertTrue(given.tensors() == null || inputs.contains(given.tensors()), each::toString);
                }
            }
            for (PirOperation.Parameter parameter : each.parameters()) {
                assertTrue(parameter.attribute() == null || schema.attribute(parameter.attribute()) != null,
                        each.toString());
            }
            for (PirOperation.Result result : each.results()) {
                assertTrue(result.slot() == null || outputs.contains(result.slot()), each.toString());
            }
        }
    }

    /** PIR has one operation for what flatten2 does around axis 1, and needs two around any other. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void matricesOfAnyAxisAreWritten(int axis, @TempDir Path written) throws IOException {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 3, 4)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, -1)))
                .put(VarDesc.of("shape", VarType.dense(DType.FLOAT32, 0, -1, 3, 4)))
                .add(OpDesc.of("flatten2").in("X", "x").out("Out", "y").out("XShape", "shape").attr("axis", axis)
                        .build());
        Path file = written.resolve("matrix.json");
        InferenceModels.save(file, new InferenceModel(program, List.of("x"), List.of("y"), Map.of()));
        float[] values = new float[24];
        for (int i = 0; i < values.length; i++) {
            values[i] = i;
        }
        try (InferenceModel model = InferenceModels.load(file)) {
            Tensor y = Objects.requireNonNull(Interpreter.of(Kernels.system())
                    .run(model.program(), Map.of("x", Tensor.of(values, 2, 3, 4)), model.fetches())
                    .get(model.fetches().getFirst()));
            long rows = List.of(1, 2, 6, 24).get(axis);
            assertEquals(Shape.of(rows, 24 / rows), y.shape());
            assertArrayEquals(values, y.toFloatArray());
        }
    }

    @Test
    void variablesHaveReadableNames() throws IOException {
        try (InferenceModel model = InferenceModels.load(folder.resolve("recognition.json"))) {
            List<String> names = model.program().global().vars().stream().map(VarDesc::name).toList();
            assertTrue(names.stream().anyMatch(name -> name.matches("conv2d_\\d+")), names::toString);
            assertEquals(List.of("x0"), model.feeds());
            assertEquals(List.of("fetch_name_0"), model.fetches());
        }
    }

    @Test
    void operationsWithoutCounterpartAreAllNamed(@TempDir Path written) throws IOException {
        String text = Files.readString(folder.resolve("multi.json")).replace("\"1.subtract\"", "\"1.sub_tract\"")
                .replace("\"1.multiply\"", "\"3.mine\"");
        Path file = written.resolve("multi.json");
        Files.writeString(file, text);
        assertEquals(file + ": The program cannot be run, since operations of PIR have no counterpart: 'sub_tract', "
                + "'3.mine'. docs/operations.md lists the operations there are",
                assertThrows(IllegalArgumentException.class, () -> InferenceModels.load(file)).getMessage());
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 2, 2)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, 2, 2)))
                .add(OpDesc.of("minus").in("X", "x").in("Y", "x").out("Out", "y").build());
        InferenceModel model = new InferenceModel(program, List.of("x"), List.of("y"), Map.of());
        assertEquals("PaddlePaddle 3 has no counterpart of an operation of the model: 'minus'. Other formats may have "
                + "counterparts: try .onnx or .pdmodel",
                assertThrows(IllegalArgumentException.class,
                        () -> InferenceModels.save(written.resolve("b.json"), model)).getMessage());
        assertTrue(Files.notExists(written.resolve("b.json")));
    }

    @Test
    void mutatedFilesAreReadOrRefused() throws IOException {
        Map<String, byte[]> documents = new TreeMap<>();
        for (String name : List.of("control", "gru", "slices", "split", "swap")) {
            documents.put(name, Files.readAllBytes(folder.resolve(name + ".json")));
        }
        List<String> names = List.copyOf(documents.keySet());
        Random random = new Random(5);
        int refused = 0;
        int mutations = Integer.getInteger("seriatim.hostile", Boolean.getBoolean("seriatim.full") ? 100_000 : 3_000);
        for (int i = 0; i < mutations; i++) {
            byte[] mutated =
                    mutated(Objects.requireNonNull(documents.get(names.get(random.nextInt(names.size())))), random);
            try {
                PirReader.read(JsonReader.parse("test.json", mutated));
            } catch (FileFormatException e) {
                assertTrue(String.valueOf(e.getMessage()).startsWith("test.json, byte "), e::getMessage);
                refused++;
            } catch (IllegalArgumentException e) {
                assertTrue(String.valueOf(e.getMessage()).startsWith("The program cannot be run"), e::getMessage);
                refused++;
            }
        }
        assertTrue(refused > mutations / 6, "refused " + refused);
    }

    /** Exchanges numbers and texts, so that most mutated documents are still JSON. */
    private static byte[] mutated(byte[] document, Random random) {
        String text = new String(document, StandardCharsets.UTF_8);
        for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
            int at = random.nextInt(text.length());
            int from = at;
            while (from > 0 && "[]{},:".indexOf(text.charAt(from - 1)) < 0) {
                from--;
            }
            int to = from;
            while (to < text.length() && "[]{},:".indexOf(text.charAt(to)) < 0) {
                to++;
            }
            int other = random.nextInt(text.length());
            int end = other;
            while (end < text.length() && "[]{},:".indexOf(text.charAt(end)) < 0) {
                end++;
            }
            String replacement = switch (random.nextInt(6)) {
                case 0 -> text.substring(other, end);
                case 1 -> String.valueOf(random.nextInt(80) - 8);
                case 2 -> String.valueOf(1L << random.nextInt(63));
                case 3 -> "\"x\"";
                case 4 -> "[]";
                default -> "{}";
            };
            text = text.substring(0, from) + replacement + text.substring(to);
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class InferenceModelsTest {
    private static final Map<String, Tensor> EXPORTS = GoldenFiles.entries("exports");
    private static final Map<String, Tensor> PROGRAMS = GoldenFiles.entries("programs");

    @TempDir
    private Path folder = Path.of("");

    /** Equal bytes, and before them, for a message that can be read, equal texts. */
    private static void assertSame(byte[] expected, byte[] actual, String name) throws IOException {
        assertEquals(ProgramFiles.parse(name, expected).toString(), ProgramFiles.parse(name, actual).toString(), name);
        assertArrayEquals(expected, actual, name);
    }

    /** The export of a program of Paddle equals Paddle's own export, byte for byte. */
    @TestFactory
    Stream<DynamicTest> exportsAsPaddleDoes() {
        return GoldenFiles.names(EXPORTS, "inference").stream().map(name -> DynamicTest.dynamicTest(name, () -> {
            Program main = GoldenFiles.program(EXPORTS, name + "/main");
            byte[] before = ProgramFiles.toBytes(main);
            Program exported = InferenceModels.export(main, GoldenFiles.lines(EXPORTS, name + "/feeds"),
                    GoldenFiles.lines(EXPORTS, name + "/fetches"));
            assertSame(GoldenFiles.bytes(EXPORTS, name + "/inference"), ProgramFiles.toBytes(exported), name);
            assertArrayEquals(before, ProgramFiles.toBytes(main), "the program itself stays");
        }));
    }

    @TestFactory
    Stream<DynamicTest> exportsWholeNetworksAsPaddleDoes() {
        return GoldenFiles.names(PROGRAMS, "inference").stream().map(name -> DynamicTest.dynamicTest(name, () -> {
            Program expected = GoldenFiles.program(PROGRAMS, name + "/inference");
            List<String> feeds = new ArrayList<>();
            List<String> fetches = new ArrayList<>();
            for (OpDesc op : expected.global().ops()) {
                if (op.type().equals("feed")) {
                    feeds.addFirst(op.output("Out").getFirst());
                } else if (op.type().equals("scale") && op.output("Out").getFirst().startsWith("save_infer_model/")) {
                    fetches.add(op.input("X").getFirst());
                }
            }
            Program exported = InferenceModels.export(GoldenFiles.program(PROGRAMS, name + "/main"), feeds, fetches);
            assertSame(GoldenFiles.bytes(PROGRAMS, name + "/inference"), ProgramFiles.toBytes(exported), name);
        }));
    }

    /** Loads what Paddle wrote and writes the same files. */
    @TestFactory
    Stream<DynamicTest> loadsAndWritesTheSameFiles() {
        return GoldenFiles.names(EXPORTS, "inference").stream().map(name -> DynamicTest.dynamicTest(name, () -> {
            Path prefix = folder.resolve(name);
            Path model = folder.resolve(name + ".pdmodel");
            Path parameters = folder.resolve(name + ".pdiparams");
            Files.write(model, GoldenFiles.bytes(EXPORTS, name + "/inference"));
            boolean any = EXPORTS.containsKey(name + "/params");
            if (any) {
                Files.write(parameters, GoldenFiles.bytes(EXPORTS, name + "/params"));
            }
            try (InferenceModels.InferenceModel loaded = InferenceModels.load(prefix)) {
                assertEquals(GoldenFiles.lines(EXPORTS, name + "/feeds"), loaded.feeds());
                assertEquals(GoldenFiles.lines(EXPORTS, name + "/fetches").size(), loaded.fetches().size());
                assertEquals(any, !loaded.parameters().isEmpty());
                Files.delete(model);
                Program main = GoldenFiles.program(EXPORTS, name + "/main");
                PaddleFormat.write(prefix,
                        InferenceModels.export(main, loaded.feeds(), GoldenFiles.lines(EXPORTS, name + "/fetches")),
                        loaded.parameters()::get, false);
            }
            assertSame(GoldenFiles.bytes(EXPORTS, name + "/inference"), Files.readAllBytes(model), name);
            assertEquals(any, Files.exists(parameters));
            if (any) {
                assertArrayEquals(GoldenFiles.bytes(EXPORTS, name + "/params"), Files.readAllBytes(parameters));
            }
        }));
    }

    private static Program doubling() {
        Program program = new Program();
        program.global().put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 2)).persistent())
                .put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 2)))
                .put(VarDesc.of("unused", VarType.dense(DType.FLOAT32, 2)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, 2)))
                .put(VarDesc.of("rows", new VarType.Rows(VarType.TensorType.of(DType.FLOAT32, 2))));
        program.global()
                .add(OpDesc.of("elementwise_mul").in("X", "x").in("Y", "w").out("Out", "y").attr("axis", -1).build());
        return program;
    }

    private static String refused(List<String> feeds, List<String> fetches) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> InferenceModels.export(doubling(), feeds, fetches))
                        .getMessage());
    }

    @Test
    void refusesWhatCannotBeExported() {
        assertEquals("Nothing that is fetched needs feed 'unused': leave it out",
                refused(List.of("x", "unused"), List.of("y")));
        assertEquals("Feed 'x' is there twice", refused(List.of("x", "x"), List.of("y")));
        assertEquals("An inference model fetches at least one variable, but none is named",
                refused(List.of("x"), List.of()));
        assertTrue(refused(List.of("x"), List.of("z")).startsWith("There is no variable 'z'"));
        assertTrue(refused(List.of("z"), List.of("y")).startsWith("There is no variable 'z'"));
        assertTrue(refused(List.of("x"), List.of("rows"))
                .startsWith("Only tensors can be fetched from an inference model, but 'rows' is"));
    }

    @Test
    void writesNothingWithoutAllValues() throws IOException {
        Path prefix = folder.resolve("model");
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> InferenceModels.save(prefix, doubling(), List.of("x"), List.of("y"), _ -> null));
        assertEquals("Persistable variable 'w' has no value: run the startup program first, or load its parameters",
                e.getMessage());
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(0, files.count());
        }
    }

    /** Extra attributes go as in Paddle, but not where the result would be another. */
    @Test
    void keepsAttributesThatChangeResults() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 2)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, 2)))
                .put(VarDesc.of("z", VarType.dense(DType.FLOAT32, 2)));
        program.global().add(
                OpDesc.of("swish").in("X", "x").out("Out", "y").attr("beta", 2f).attr("use_mkldnn", false).build());
        program.global().add(OpDesc.of("swish").in("X", "y").out("Out", "z").attr("beta", 1f).build());
        List<OpDesc> ops = InferenceModels.export(program, List.of("x"), List.of("z")).global().ops();
        assertEquals(List.of("beta"), ops.get(1).attributes().stream().map(each -> each.name()).toList());
        assertEquals(List.of(), ops.get(2).attributes());
    }

    /** The form of old versions: a folder with the program and a file for each parameter, or one for all. */
    @Test
    void loadsFolders() throws IOException {
        Program exported = InferenceModels.export(doubling(), List.of("x"), List.of("y"));
        Map<String, Tensor> values = new TreeMap<>(Map.of("w", Tensor.of(new float[]{2, 3})));
        ProgramFiles.write(folder.resolve("__model__"), exported);
        ParameterFiles.writeSeparate(folder, exported, values::get);
        for (int i = 0; i < 2; i++) {
            try (InferenceModels.InferenceModel model = InferenceModels.load(folder)) {
                assertEquals(List.of("x"), model.feeds());
                assertEquals(List.of("save_infer_model/scale_0.tmp_0"), model.fetches());
                assertArrayEquals(new float[]{2, 3},
                        Objects.requireNonNull(model.parameters().get("w")).toFloatArray());
                assertEquals(List.of("elementwise_mul", "scale"),
                        model.program().global().ops().stream().map(OpDesc::type).toList());
            }
            Files.deleteIfExists(folder.resolve("w"));
            ParameterFiles.writeCombined(folder.resolve("__params__"), exported, values::get);
        }
    }

    /** Whichever variables are fetched, results that can have the name of their variable have it. */
    @Test
    void savesResultsUnderTheNamesOfTheirVariables() throws IOException {
        Program program = doubling();
        program.global().put(VarDesc.of("z", VarType.dense(DType.FLOAT32, -1, 2)))
                .put(VarDesc.of("positive", VarType.dense(DType.BOOL, -1, 2)));
        program.global().add(OpDesc.of("relu").in("X", "y").out("Out", "z").build())
                .add(OpDesc.of("greater_than").in("X", "y").in("Y", "z").out("Out", "positive").attr("axis", -1)
                        .build());
        Tensor w = Tensor.of(new float[]{2, 3});
        Random random = new Random(48);
        for (int i = 0; i < 20; i++) {
            List<String> fetches = new ArrayList<>();
            for (int j = 0; j <= random.nextInt(5); j++) {
                fetches.add(List.of("x", "y", "z", "w", "positive").get(random.nextInt(5)));
            }
            fetches.add("y");
            List<String> before = List.copyOf(fetches);
            InferenceModels.save(folder.resolve("named"), program, List.of("x"), before, _ -> w);
            try (InferenceModels.InferenceModel model = InferenceModels.load(folder.resolve("named"))) {
                for (int j = 0; j < before.size(); j++) {
                    String name = before.get(j);
                    boolean itself = !name.equals("x") && !name.equals("w") && before.indexOf(name) == j;
                    boolean sameValue = !name.equals("positive");
                    assertEquals(itself || !sameValue ? name : "save_infer_model/scale_" + j + ".tmp_0",
                            model.fetches().get(j), before.toString());
                }
            }
        }
    }

    private String refusedFile(Program program) throws IOException {
        Path file = folder.resolve("bad.pdmodel");
        ProgramFiles.write(file, program);
        return String.valueOf(assertThrows(FileFormatException.class, () -> InferenceModels.load(file)).getMessage());
    }

    @Test
    void refusesWrongFeedsAndFetches() throws IOException {
        assertTrue(refusedFile(doubling())
                .contains("an inference model fetches something, but there is no operation fetch"));
        OpDesc fetch = OpDesc.of("fetch").in("X", "y").out("Out", "fetch").attr("col", 0).build();
        Program program = doubling();
        program.global().add(fetch.with("col", 1L));
        assertTrue(refusedFile(program)
                .contains("an operation fetch has one declared variable and the number col, but this is "));
        program.global().set(1, fetch).add(fetch);
        assertTrue(refusedFile(program).contains("two operations fetch have the number 0"));
        program.global().set(1, fetch.with("col", 2));
        assertTrue(refusedFile(program).contains("the numbers of operations fetch go from 0 up, but are [0, 2]"));
        program.global().set(1, OpDesc.of("fetch").in("X", "undeclared").out("Out", "fetch").attr("col", 1).build());
        assertTrue(refusedFile(program).contains("an operation fetch has one declared variable"));
    }

    @Test
    void saysWhatIsMissing() throws IOException {
        assertThrows(NoSuchFileException.class, () -> InferenceModels.load(folder.resolve("nothing")));
        ProgramFiles.write(folder.resolve("half.pdmodel"),
                InferenceModels.export(doubling(), List.of("x"), List.of("y")));
        NoSuchFileException e = assertThrows(NoSuchFileException.class,
                () -> InferenceModels.load(folder.resolve("half")));
        assertTrue(String.valueOf(e.getMessage())
                .endsWith("half.pdiparams: the values of 1 persistable variables, such as 'w', should be there"));
        assertFalse(Files.exists(folder.resolve("half.pdiparams")));
    }
}

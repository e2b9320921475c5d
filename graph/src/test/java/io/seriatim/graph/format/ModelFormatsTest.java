package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which format reads and writes which file. */
class ModelFormatsTest {
    @TempDir
    private Path folder = Path.of("");

    /** A format that stores nothing. */
    public static class Empty implements ModelFormat {
        private final String end;

        /** A format of files {@code .empty}. */
        public Empty() {
            this(".empty");
        }

        Empty(String end) {
            this.end = end;
        }

        @Override
        public String name() {
            return end.equals(".onnx") ? "ONNX" : "nothing";
        }

        @Override
        public boolean reads(Path path) {
            return path.toString().endsWith(end);
        }

        @Override
        public InferenceModel load(Path path) {
            return new InferenceModel(new Program(), List.of(), List.of(), Map.of());
        }

        @Override
        public boolean writes(Path path) {
            return reads(path);
        }

        @Override
        public void save(Path path, InferenceModel model) throws IOException {
            Files.createFile(path);
        }
    }

    /** Cannot be made. */
    public static final class Broken extends Empty {
        /** Fails. */
        public Broken() {
            throw new UnsupportedOperationException("no library");
        }
    }

    private static ModelFormats formats(ModelFormat... others) {
        List<ModelFormat> all = new ArrayList<>(List.of(new PaddleFormat()));
        all.addAll(List.of(others));
        return new ModelFormats(all, List.of());
    }

    private static String refusedRead(ModelFormats formats, Path path) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> formats.reader(path)).getMessage());
    }

    private static String refusedWrite(ModelFormats formats, Path path) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> formats.writer(path)).getMessage());
    }

    @Test
    void namesTheArtifactOfAFormatThatIsMissing() throws IOException {
        Path onnx = Files.createFile(folder.resolve("a.onnx"));
        String expected = onnx + " is a model of ONNX, whose format is not on the class or module path: add "
                + "io.seriatim:seriatim-onnx";
        assertEquals(expected, refusedRead(formats(), onnx));
        assertEquals(expected, refusedWrite(formats(), onnx));
        Path symbol = Files.writeString(folder.resolve("net-symbol.json"), "{\n  \"nodes\" : [\n");
        assertEquals(symbol + " is a model of MXNet, whose format is not on the class or module path: add "
                + "io.seriatim:seriatim-mxnet", refusedRead(formats(), symbol));
        Path renamed = Files.writeString(folder.resolve("net.json"), "{\"arg_nodes\":[],\"nodes\":[]}");
        assertTrue(refusedRead(formats(), renamed).endsWith("seriatim-mxnet"));
    }

    @Test
    void listsTheFormatsForOtherFiles() throws IOException {
        String formats = ": models are NAME.pdmodel or NAME.json (PaddlePaddle, beside NAME.pdiparams), NAME.onnx";
        for (String name : List.of("a.bin", "a.json", "a.pdiparams")) {
            Path file = Files.writeString(folder.resolve(name), "{\"a\": 1}");
            assertEquals("No format that is known reads " + file + formats + ", NAME-symbol.json (MXNet, beside "
                    + "NAME-0000.params), or a folder with __model__", refusedRead(formats(), file));
        }
        Path other = folder.resolve("b.safetensors");
        assertEquals("No format that is written has the end of " + other + formats, refusedWrite(formats(), other));
        // The format is there, so that adding an artifact would not help.
        Path onnx = Files.createFile(folder.resolve("c.onnx"));
        ModelFormats withOnnx = formats(new Empty(".onnx"));
        assertInstanceOf(Empty.class, withOnnx.reader(onnx));
        assertInstanceOf(Empty.class, withOnnx.writer(onnx));
    }

    @Test
    void refusesAFileOfSeveralFormats() throws IOException {
        Path file = Files.createFile(folder.resolve("a.pdmodel"));
        ModelFormats formats = formats(new Empty(".pdmodel"));
        String message = " by several formats, [PaddlePaddle 2 (io.seriatim.graph.format.PaddleFormat), nothing ("
                + Empty.class.getName() + ")]: leave only one of them on the class or module path";
        assertEquals(file + " would be read" + message, refusedRead(formats, file));
        assertEquals(file + " would be written" + message, refusedWrite(formats, file));
    }

    private ServiceLoader<ModelFormat> services(String... classes) throws IOException {
        Path root = Files.createTempDirectory(folder, "jar");
        Path services = Files.createDirectories(root.resolve("META-INF/services"));
        Files.write(services.resolve(ModelFormat.class.getName()), List.of(classes));
        return ServiceLoader.load(ModelFormat.class,
                new URLClassLoader(new URL[]{root.toUri().toURL()}, ModelFormatsTest.class.getClassLoader()));
    }

    @Test
    void findsServicesOnce() throws IOException {
        ModelFormats formats = ModelFormats
                .of(List.of(services(Empty.class.getName()), services(Empty.class.getName())));
        assertEquals(1, formats.formats().stream().filter(each -> each.getClass() == Empty.class).count());
        assertEquals(List.of(), formats.broken());
        Path file = Files.createFile(folder.resolve("a.empty"));
        assertInstanceOf(Empty.class, formats.reader(file));
        assertInstanceOf(PaddleFormat.class, formats.writer(folder.resolve("a.pdmodel")));
    }

    @Test
    void saysWhichServiceIsBrokenOnlyIfNoOtherFormatIsFound() throws IOException {
        ModelFormats formats = ModelFormats
                .of(List.of(services(Broken.class.getName(), "io.seriatim.Absent", Empty.class.getName())));
        assertEquals(2, formats.broken().size());
        assertInstanceOf(Empty.class, formats.reader(Files.createFile(folder.resolve("a.empty"))));
        Path onnx = Files.createFile(folder.resolve("a.onnx"));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> formats.reader(onnx));
        String message = String.valueOf(e.getMessage());
        assertTrue(
                message.contains("add io.seriatim:seriatim-onnx. Besides, a format that was found as a service could "
                        + "not be made: "),
                message);
        assertTrue(message.contains(Broken.class.getName()), message);
        assertInstanceOf(ServiceConfigurationError.class, e.getCause());
        assertEquals(1, e.getSuppressed().length);
        assertTrue(String.valueOf(e.getSuppressed()[0].getMessage()).contains("io.seriatim.Absent"));
    }

    @Test
    void findsTheFileThatANameMeans() throws IOException {
        Path json = Files.createFile(folder.resolve("m.json"));
        assertEquals(json, ModelFormats.located(folder.resolve("m")));
        Path program = Files.createFile(folder.resolve("m.pdmodel"));
        assertEquals(program, ModelFormats.located(folder.resolve("m")));
        assertEquals(json, ModelFormats.located(json));
        Files.createDirectories(folder.resolve("m"));
        assertEquals(program, ModelFormats.located(folder.resolve("m")));
        Path model = Files.createFile(folder.resolve("m/__model__"));
        assertEquals(folder.resolve("m"), ModelFormats.located(folder.resolve("m")));
        assertEquals(folder.resolve("m").toAbsolutePath(), ModelFormats.located(model));
        NoSuchFileException none = assertThrows(NoSuchFileException.class,
                () -> ModelFormats.located(folder.resolve("n")));
        assertEquals(folder.resolve("n") + ": nor are there n.pdmodel and n.json", none.getMessage());
        none = assertThrows(NoSuchFileException.class, () -> ModelFormats.located(folder.resolve("n.onnx")));
        assertEquals(folder.resolve("n.onnx").toString(), none.getMessage());
        Path empty = Files.createDirectories(folder.resolve("e"));
        NoSuchFileException noModel = assertThrows(NoSuchFileException.class, () -> ModelFormats.located(empty));
        assertEquals(empty.resolve("__model__") + ": a folder is a model if it has this file; for another model, name "
                + "its file", noModel.getMessage());
    }

    /** x → y = w · x or, without a parameter, y = x + x, with the feeds x and unused. */
    private static InferenceModel model(String x, String y, boolean parameter) {
        Program program = new Program();
        program.global().put(VarDesc.of(x, VarType.dense(DType.FLOAT32, -1, 2)))
                .put(VarDesc.of("unused", VarType.dense(DType.INT64, -1)))
                .put(VarDesc.of(y, VarType.dense(DType.FLOAT32, -1, 2)));
        if (parameter) {
            program.global().put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 2)).persistent());
        }
        program.global().add(OpDesc.of(parameter ? "elementwise_mul" : "elementwise_add").in("X", x)
                .in("Y", parameter ? "w" : x).out("Out", y).attr("axis", -1).build());
        return new InferenceModel(program, List.of("unused", x), List.of(y, x),
                parameter ? Map.of("w", Tensor.of(new float[]{2, 3}, 2)) : Map.of());
    }

    /** Names that are those of variables which the file adds are kept, too. */
    @ParameterizedTest
    @ValueSource(strings = {"x", "feed", "fetch", "image:0/é"})
    void writesFeedsAndFetchesUnderTheirNames(String x) throws IOException {
        Path file = folder.resolve("m.pdmodel");
        try (InferenceModel model = model(x, "y", true)) {
            InferenceModels.save(file, model);
            try (InferenceModel read = InferenceModels.load(folder.resolve("m"))) {
                assertEquals(model.feeds(), read.feeds());
                assertEquals(model.fetches(), read.fetches());
                assertEquals(model.program().global().ops().size(), read.program().global().ops().size());
                assertEquals(List.of("w"), List.copyOf(read.parameters().keySet()));
                assertEquals(4, read.program().global().vars().size(), "x, y, unused, w");
            }
        }
    }

    @Test
    void writesAFileOfParametersEvenIfThereAreNone() throws IOException {
        try (InferenceModel model = model("x", "y", false)) {
            InferenceModels.save(folder.resolve("m.pdmodel"), model);
        }
        assertEquals(0, Files.size(folder.resolve("m.pdiparams")));
        try (InferenceModel read = InferenceModels.load(folder.resolve("m"))) {
            assertEquals(Map.of(), read.parameters());
        }
    }

    @Test
    void writesBothFilesOrNone() throws IOException {
        InferenceModel model = model("x", "y", true);
        model.close();
        InferenceModel without = new InferenceModel(model.program(), model.feeds(), model.fetches(), Map.of());
        Path file = folder.resolve("m.pdmodel");
        assertThrows(IllegalArgumentException.class, () -> InferenceModels.save(file, without));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(0, files.count());
        }
    }

    @Test
    void readsFoldersAsBefore() throws IOException {
        Files.writeString(folder.resolve("__model__"), "nonsense");
        assertThrows(FileFormatException.class, () -> InferenceModels.load(folder));
        assertThrows(FileFormatException.class, () -> InferenceModels.load(folder.resolve("__model__")));
    }
}

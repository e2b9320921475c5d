package io.seriatim.cli.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.CommandRun;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.StagedFiles;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConvertCommandTest {
    @TempDir
    private Path folder = Path.of("");

    private Path saved(String name, List<String> feeds, Function<Graph, Value> definition) throws IOException {
        Network network = Network.define(3, g -> Outputs.of("y", definition.apply(g)));
        Path file = folder.resolve(name);
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            InferenceModels.save(file, InferenceModels.of(network.main(), feeds,
                    List.of(network.outputs().get("y").name()), executor.scope()::find));
        }
        return file;
    }

    private Path classifier() throws IOException {
        return saved("a.pdmodel", List.of("image"), g -> {
            Value image = g.data("image", DType.FLOAT32, -1, 1, 28, 28);
            return g.linear(g.batchNorm(g.conv2d(image, 2, 3, 1, 1)).relu().maxPool2d(2, 2, 0).flatten(1), 4)
                    .softmax(1);
        });
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> String.valueOf(file.getFileName())).sorted().toList();
        }
    }

    @Test
    void convertsAndVerifies() throws IOException {
        Path from = classifier();
        Path to = folder.resolve("b.pdmodel");
        CommandRun run = CommandRun.of("convert", from, to, "--verify");
        assertEquals(0, run.code(), run.err());
        assertTrue(
                run.out().matches("softmax_0.tmp_0 float32 \\[2, 4\\]: largest difference 0.00 of values up to 0.\\d+"
                        + "\\R"),
                run.out());
        assertEquals("written " + to, run.err().strip());
        assertEquals(List.of("a.pdiparams", "a.pdmodel", "b.pdiparams", "b.pdmodel"), files());
        assertArrayEquals(Files.readAllBytes(folder.resolve("a.pdiparams")),
                Files.readAllBytes(folder.resolve("b.pdiparams")));
        try (InferenceModel model = InferenceModels.load(to)) {
            assertEquals(List.of("image"), model.feeds());
            assertEquals(List.of("softmax_0.tmp_0"), model.fetches());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 18, 19, 20})
    void writesTheWantedVersionOfOperators(int opset) throws IOException {
        Path to = folder.resolve("b.onnx");
        CommandRun run =
                CommandRun.of("convert", classifier(), to, "--opset", opset, "--verify", "--tolerance", "1e-6");
        assertEquals(0, run.code(), run.err());
        String bytes = Files.readString(to, StandardCharsets.ISO_8859_1);
        // The field opset_import: an empty domain and the version.
        assertTrue(bytes.endsWith("B\4\n\0\20" + (char) opset), "opset " + opset);
    }

    @ParameterizedTest
    @CsvSource({"b.onnx,16,Versions 17 to 20", "b.onnx,21,Versions 17 to 20", "b.onnx,-1,Versions 17 to 20",
            "b.onnx,0,Versions 17 to 20", "b.json,17,has no versions", "b.pdmodel,17,has no versions"})
    void refusesOtherVersionsOfOperators(String name, int opset, String message) throws IOException {
        CommandRun run = CommandRun.of("convert", classifier(), folder.resolve(name), "--opset", opset);
        assertEquals(2, run.code());
        assertTrue(run.err().startsWith("seriatim: --opset " + opset + ": ") && run.err().contains(message), run.err());
        assertEquals(List.of("a.pdiparams", "a.pdmodel"), files());
    }

    /** From each format to each other, and with the same numbers in all. */
    @ParameterizedTest
    @CsvSource({"json, pdmodel", "json, onnx", "onnx, pdmodel", "onnx, json"})
    void convertsBetweenFormats(String from, String to) throws IOException {
        Path original = saved("a." + from, List.of("image"), g -> {
            Value image = g.data("image", DType.FLOAT32, -1, 1, 8, 8);
            return g.linear(g.batchNorm(g.conv2d(image, 2, 3, 1, 1)).relu().maxPool2d(2, 2, 0).flatten(1), 4)
                    .softmax(1);
        });
        Path written = folder.resolve("b." + to);
        CommandRun run = CommandRun.of("convert", original, written, "--verify", "--tolerance", "1e-6");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains(" float32 [2, 4]: largest difference "), run.out());
        float[] pixels = new float[2 * 64];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (float) Math.sin(i);
        }
        Npy.write(folder.resolve("image.npy"), Tensor.of(pixels, 2, 1, 8, 8));
        assertArrayEquals(results(original), results(written), 1e-6f);
    }

    /** What {@code run} computes of image.npy. */
    private float[] results(Path model) throws IOException {
        Path results = folder.resolve("of " + model.getFileName());
        CommandRun run = CommandRun.of("run", "--program", model, "--feed", "image=" + folder.resolve("image.npy"),
                "--out", results);
        assertEquals(0, run.code(), run.err());
        try (Stream<Path> files = Files.list(results)) {
            float[] values = Npy.read(files.findFirst().orElseThrow()).toFloatArray();
            assertEquals(8, values.length);
            assertEquals(1, values[0] + values[1] + values[2] + values[3], 1e-5);
            return values;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "onnx"})
    void showsOtherFormats(String end) throws IOException {
        Path model = saved("a." + end, List.of("x"), g -> g.data("x", DType.FLOAT32, -1, 3).plus(1).tanh());
        CommandRun run = CommandRun.of("show", "--program", model);
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains("tanh"), run.out());
    }

    /** Dimensions that are open are made up so that the model can be run; token numbers stay inside small tables. */
    @Test
    void findsInputsThatAModelTakes() throws IOException {
        saved("tokens.pdmodel", List.of("ids", "token_type_ids"), g -> {
            Value ids = g.data("ids", DType.INT64, -1, -1);
            Value types = g.data("token_type_ids", DType.INT64, -1, -1);
            return g.embedding(ids, 12, 3).plus(g.embedding(types, 2, 3));
        });
        CommandRun tokens = CommandRun.of("convert", folder.resolve("tokens"), folder.resolve("t.pdmodel"), "--verify");
        assertEquals(0, tokens.code(), tokens.err());
        assertTrue(tokens.out().contains("float32 [2, 16, 3]: largest difference 0.00"), tokens.out());
        // Rows of 3 · 1201 fit none of the images that are made up.
        Path odd = saved("odd.pdmodel", List.of("x"),
                g -> g.op("reshape2").in("X", g.data("x", DType.FLOAT32, -1, 3, -1, -1))
                        .attr("shape", new int[]{-1, 3603}).all("Out", "XShape").getFirst());
        CommandRun refused = CommandRun.of("convert", odd, folder.resolve("o.pdmodel"), "--verify");
        assertEquals(2, refused.code());
        assertTrue(refused.err().contains("give their dimensions with --shape NAME=D,D…"), refused.err());
        assertFalse(Files.exists(folder.resolve("o.pdmodel")));
        CommandRun given = CommandRun.of("convert", odd, folder.resolve("o.pdmodel"), "--verify", "--shape",
                "x=2,3,1201,1");
        assertEquals(0, given.code(), given.err());
        assertTrue(given.out().contains("float32 [2, 3603]"), given.out());
    }

    private void assertRefused(String message, Object... args) throws IOException {
        List<String> before = files();
        CommandRun run = CommandRun.of(Stream.concat(Stream.of("convert"), Arrays.stream(args)).toArray());
        assertEquals(2, run.code(), run.err());
        assertTrue(run.err().contains(message), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertEquals(before, files());
    }

    @Test
    void refusesWrongArguments() throws IOException {
        Path from = classifier();
        Path to = folder.resolve("b.pdmodel");
        assertRefused("Missing required parameter: 'OUT'", from);
        assertRefused("No format that is written has the end of " + folder.resolve("b.bin")
                + ": models are NAME.pdmodel or NAME.json", from, folder.resolve("b.bin"));
        assertRefused("There is no file " + folder.resolve("c") + ": nor are there c.pdmodel and c.json",
                folder.resolve("c"), to);
        assertRefused("The model would be written over itself", from, from);
        assertRefused("There is no file " + folder.resolve("no/b.pdmodel") + ": its folder is not there", from,
                folder.resolve("no/b.pdmodel"));
        assertRefused("--shape x=… names no feed; the feeds are [image]", from, to, "--verify", "--shape", "x=1");
        assertRefused("--shape image=a must be dimensions from 0 on, such as 1,3,224,224", from, to, "--verify",
                "--shape", "image=a");
        assertRefused("--tolerance must be a number from 0 on", from, to, "--tolerance", "-1");
        assertRefused("No format that is known reads " + folder.resolve("a.pdiparams"), folder.resolve("a.pdiparams"),
                to);
    }

    @Test
    void namesOperationsWithoutCounterpart() throws IOException {
        Program program = new Program();
        for (String name : List.of("x", "y", "z")) {
            program.global().put(VarDesc.of(name, VarType.dense(DType.INT32, -1)));
        }
        program.global().add(OpDesc.of("bitwise_left_shift").in("X", "x").in("Y", "x").out("Out", "y").build())
                .add(OpDesc.of("bitwise_right_shift").in("X", "y").in("Y", "x").out("Out", "z").build());
        Path to = folder.resolve("shifts.pdmodel");
        try (InferenceModel model = new InferenceModel(program, List.of("x"), List.of("z"), Map.of())) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    () -> InferenceModels.save(to, model));
            assertTrue(String.valueOf(e.getMessage()).contains(
                    "'bitwise_left_shift' (of 'y'), 'bitwise_right_shift' (of 'z')"), e.getMessage());
        }
        assertEquals(List.of(), files());
    }

    /** The parameters of the model that was read are replaced only by equal ones. */
    @Test
    void keepsTheParametersOfTheModelThatWasRead() throws IOException {
        Path from = classifier();
        byte[] parameters = Files.readAllBytes(folder.resolve("a.pdiparams"));
        Path same = Objects.requireNonNull(Files.createDirectory(folder.resolve("same")));
        Files.write(same.resolve("a.pdiparams"), new byte[]{1});
        assertEquals(0, CommandRun.of("convert", from, same.resolve("a.pdmodel")).code());
        assertArrayEquals(parameters, Files.readAllBytes(same.resolve("a.pdiparams")), "of no model that was read");
        try (InputFiles.Watch _ = InputFiles.watch();
                InferenceModel _ = InferenceModels.load(from);
                StagedFiles staged = StagedFiles.beside(folder.resolve("a.json"))) {
            Files.write(staged.file(), new byte[]{2});
            Path beside = staged.file("a.pdiparams");
            Files.write(beside, new byte[]{3});
            FileAlreadyExistsException e = assertThrows(FileAlreadyExistsException.class, staged::publish);
            assertTrue(String.valueOf(e.getMessage()).contains("is an input of the same command"), e.getMessage());
            assertFalse(Files.exists(folder.resolve("a.json")));
            Files.write(beside, parameters);
            staged.publish();
        }
        assertEquals(List.of("a.json", "a.pdiparams", "a.pdmodel", "same"), files());
        assertArrayEquals(parameters, Files.readAllBytes(folder.resolve("a.pdiparams")));
    }

    @Test
    void measuresDifferences() {
        Tensor one = Tensor.of(new float[]{1, -4, Float.NaN, Float.POSITIVE_INFINITY}, 4);
        Verification.Difference none = Verification.difference("a", one, one);
        assertEquals("a float32 [4]: largest difference 0.00 of values up to 4.00", none.line());
        assertTrue(none.isWithin(0));
        Verification.Difference small = Verification.difference("a", one,
                Tensor.of(new float[]{1.25f, -4, Float.NaN, Float.POSITIVE_INFINITY}, 4));
        assertEquals(0.25, small.largest());
        assertTrue(small.isWithin(0.0625) && !small.isWithin(0.0624));
        for (float[] other : List.of(new float[]{Float.NaN, -4, Float.NaN, Float.POSITIVE_INFINITY},
                new float[]{1, -4, 0, Float.POSITIVE_INFINITY},
                new float[]{1, -4, Float.NaN, Float.NEGATIVE_INFINITY})) {
            assertFalse(Verification.difference("a", one, Tensor.of(other, 4)).isWithin(1e30));
        }
        assertFalse(Verification.difference("a", one, Tensor.of(new float[4], 2, 2)).isWithin(1e30));
        Tensor large = Tensor.of(new long[]{1L << 60, 1}, 2);
        Tensor larger = Tensor.of(new long[]{(1L << 60) + 1, 1}, 2);
        assertFalse(Verification.difference("a", large, larger).isWithin(0), "doubles do not tell these apart");
        assertTrue(Verification.difference("a", large, large).isWithin(0));
    }
}

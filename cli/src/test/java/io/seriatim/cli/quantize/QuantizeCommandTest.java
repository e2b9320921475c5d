package io.seriatim.cli.quantize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class QuantizeCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder = Path.of("");

    private int run(Object... args) {
        String[] texts = new String[args.length];
        for (int i = 0; i < args.length; i++) {
            texts[i] = args[i].toString();
        }
        return new CommandLine(QuantizeCommand.class).setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(texts);
    }

    private static Tensor normal(long seed, long... dims) {
        Random random = new Random(seed);
        int size = 1;
        for (long dim : dims) {
            size *= (int) dim;
        }
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, dims);
    }

    /** y = x · w. */
    @BeforeEach
    void writeModel() throws IOException {
        write("model", -1, "x");
    }

    private void write(String name, long batch, String... feeds) throws IOException {
        Program program = new Program();
        Block block = program.global();
        block.put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 6, 4)).persistent());
        block.put(VarDesc.of("y", VarType.dense(DType.FLOAT32, batch, 4)));
        for (String feed : feeds) {
            block.put(VarDesc.of(feed, VarType.dense(DType.FLOAT32, batch, 6)));
        }
        String sum = feeds[0];
        if (feeds.length > 1) {
            sum = "sum";
            block.put(VarDesc.of(sum, VarType.dense(DType.FLOAT32, batch, 6)));
            block.add(OpDesc.of("elementwise_add").in("X", feeds[0]).in("Y", feeds[1]).out("Out", sum).build());
        }
        block.add(OpDesc.of("matmul_v2").in("X", sum).in("Y", "w").out("Out", "y").build());
        InferenceModels.save(folder.resolve(name), program, List.of(feeds), List.of("y"), _ -> normal(1, 6, 4));
    }

    private Path model() {
        return folder.resolve("model.pdmodel");
    }

    private void assertInt8(Path prefix) throws IOException {
        try (InferenceModel made = InferenceModels.load(prefix)) {
            assertEquals(DType.INT8, Objects.requireNonNull(made.parameters().get("w")).dtype());
        }
    }

    @Test
    void writesTheModelBesideTheOriginal() throws IOException {
        Npy.write(folder.resolve("x.npy"), normal(2, 20, 6));
        assertEquals(0, run(model(), "--calibrate", folder.resolve("x.npy")), err::toString);
        List<String> lines = out.toString().lines().toList();
        assertEquals("calibrated 1 activations on 20 examples (min-max)", lines.get(0));
        assertEquals("quantized 1 of 1 products and convolutions", lines.get(1));
        assertTrue(lines.get(2).startsWith("output 'y': largest difference 0.0"),
                lines.get(2));
        assertTrue(lines.get(3).matches("  largest element at the same position in (19|20) of 20 rows .*"),
                lines.get(3));
        assertEquals(4, lines.size());
        assertTrue(err.toString().contains("model_int8.pdmodel"), err.toString());
        assertInt8(folder.resolve("model_int8"));
        assertEquals(2, run(folder.resolve("model_int8.pdmodel"), "--calibrate", folder.resolve("x.npy")));
        assertTrue(err.toString().contains("The model is quantized already"), err.toString());
    }

    @Test
    void writesOnnxThatComputesTheSame() throws IOException {
        Npy.write(folder.resolve("x.npy"), normal(2, 20, 6));
        Path made = folder.resolve("made.onnx");
        assertEquals(0, run(model(), "--calibrate", folder.resolve("x.npy"), "--out", made), err::toString);
        assertEquals(0, run(model(), "--calibrate", folder.resolve("x.npy")), err::toString);
        float[] expected = results(folder.resolve("model_int8.pdmodel"));
        float[] found = results(made);
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], found[i], 1e-5, "element " + i);
        }
    }

    private static float[] results(Path file) throws IOException {
        try (InferenceModel loaded = InferenceModels.load(file)) {
            Interpreter interpreter = Interpreter.of(Kernels.portable());
            loaded.parameters().forEach(interpreter::set);
            return Objects.requireNonNull(interpreter.run(loaded.program(), Map.of("x", normal(4, 5, 6)),
                    loaded.fetches()).get(loaded.fetches().getFirst())).toFloatArray();
        }
    }

    /** The calibration data is not even read. */
    @Test
    void whatCannotBeWrittenIsRefusedBeforeTheModelRuns() throws IOException {
        Program program = new Program();
        Block block = program.global();
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 2, 6)));
        block.put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 6, 4)).persistent());
        block.put(VarDesc.of("product", VarType.dense(DType.FLOAT32, 2, 4)));
        block.put(VarDesc.of("y", VarType.dense(DType.FLOAT32, 2, 4)));
        block.add(OpDesc.of("matmul_v2").in("X", "x").in("Y", "w").out("Out", "product").build());
        block.add(OpDesc.of("lgamma").in("X", "product").out("Out", "y").build());
        InferenceModels.save(folder.resolve("gamma"), program, List.of("x"), List.of("y"), _ -> normal(1, 6, 4));
        Path made = folder.resolve("made.onnx");
        assertEquals(2, run(folder.resolve("gamma.pdmodel"), "--calibrate", folder.resolve("missing.npy"), "--out",
                made));
        assertTrue(err.toString().contains("'lgamma' has no counterpart"), err.toString());
        assertFalse(Files.exists(made));
    }

    @Test
    void archivesHaveSeveralFeedsAndLabels() throws IOException {
        write("two", -1, "a", "b");
        Npz.write(folder.resolve("data.npz"), Map.of("a", normal(2, 10, 6), "b", normal(3, 10, 6), "labels",
                Tensor.of(new long[]{0, 1, 2, 3, 0, 1, 2, 3, 0, 1}, 10)));
        assertEquals(0, run(folder.resolve("two.pdmodel"), "--calibrate", folder.resolve("data.npz"), "--method",
                "entropy", "--batch", 3, "--examples", 7, "--out", folder.resolve("made.pdmodel")), err::toString);
        assertTrue(out.toString().contains("on 7 examples (entropy)"), out.toString());
        assertTrue(out.toString().contains("  accuracy: "), out.toString());
        assertInt8(folder.resolve("made"));
        Files.createDirectories(folder.resolve("named"));
        Npy.write(folder.resolve("named/a.npy"), normal(2, 10, 6));
        Npy.write(folder.resolve("named/b.npy"), normal(3, 10, 6));
        assertEquals(0, run(folder.resolve("two.pdmodel"), "--calibrate", folder.resolve("named"), "--out",
                folder.resolve("other.pdmodel")), err::toString);
        assertInt8(folder.resolve("other"));
        Files.createDirectories(folder.resolve("parts"));
        for (String part : List.of("1.npz", "2.npz")) {
            Npz.write(folder.resolve("parts").resolve(part), Map.of("a", normal(2, 5, 6), "b", normal(3, 5, 6)));
        }
        assertEquals(0, run(folder.resolve("two.pdmodel"), "--calibrate", folder.resolve("parts"), "--out",
                folder.resolve("third.pdmodel")), err::toString);
        assertTrue(out.toString().contains("on 10 examples (min-max)"), out.toString());
    }

    @Test
    void batchesHaveTheSizeThatTheModelFixes() throws IOException {
        write("fixed", 4, "x");
        Npy.write(folder.resolve("x.npy"), normal(2, 10, 6));
        assertEquals(0, run(folder.resolve("fixed.pdmodel"), "--calibrate", folder.resolve("x.npy")), err::toString);
        assertTrue(out.toString().contains("on 8 examples"), out.toString());
        Npy.write(folder.resolve("x.npy"), normal(2, 3, 6));
        assertEquals(2, run(folder.resolve("fixed.pdmodel"), "--calibrate", folder.resolve("x.npy")));
        assertTrue(err.toString().contains("batches of 4 examples"), err.toString());
    }

    @Test
    void wrongInputIsReported() throws IOException {
        Npy.write(folder.resolve("x.npy"), normal(2, 20, 6));
        assertRefused("--batch must be 1 or more, but is 0", model(), "--calibrate", folder.resolve("x.npy"), "--batch",
                0);
        assertRefused("there is no file", model(), "--calibrate", folder.resolve("none.npy"));
        assertRefused("There is no file", folder.resolve("none.pdmodel"), "--calibrate", folder.resolve("x.npy"));
        assertRefused("there is no folder for the file", model(), "--calibrate", folder.resolve("x.npy"), "--out",
                folder.resolve("deep/er"));
        assertRefused("no format can be written to", model(), "--calibrate", folder.resolve("x.npy"), "--out",
                folder.resolve("made.txt"));
        assertRefused("has no array 'c' with a row for each example", model(), "--calibrate", folder.resolve("x.npy"),
                "--labels", "c");
        Npz.write(folder.resolve("other.npz"), Map.of("z", normal(2, 10, 6)));
        assertRefused("there is no array for the feed 'x'; there are [z]", model(), "--calibrate",
                folder.resolve("other.npz"));
        write("two", -1, "a", "b");
        assertRefused("give an .npz with an array for each", folder.resolve("two.pdmodel"), "--calibrate",
                folder.resolve("x.npy"));
        Npz.write(folder.resolve("rows.npz"), Map.of("a", normal(2, 10, 6), "b", normal(2, 9, 6)));
        assertRefused("'b' must have a row for each of the 10 examples, but has the shape [9, 6]",
                folder.resolve("two.pdmodel"), "--calibrate", folder.resolve("rows.npz"));
        Npy.write(folder.resolve("x.npy"), Tensor.of(new float[]{Float.NaN, 0, 0, 0, 0, 0}, 1, 6));
        assertRefused("The activation 'x' holds NaN in batch 1", model(), "--calibrate", folder.resolve("x.npy"));
        Npy.write(folder.resolve("x.npy"), normal(2, 0, 6));
        assertRefused("must have a row for each of 1 or more examples", model(), "--calibrate",
                folder.resolve("x.npy"));
        assertFalse(Files.exists(folder.resolve("model_int8.pdmodel")));
    }

    private void assertRefused(String message, Object... args) {
        err.getBuffer().setLength(0);
        assertEquals(2, run(args));
        assertTrue(err.toString().contains(message), err.toString());
    }

    /** The message is that of the command run, before anything runs. */
    @Test
    void dataThatDoesNotFitTheDeclarationIsNamed() throws IOException {
        Program program = new Program();
        program.global().put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 6, 4)).persistent())
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, 4)))
                .put(new VarDesc("x", VarType.dense(DType.FLOAT32, -1, 6), null, true, null, true))
                .add(OpDesc.of("matmul_v2").in("X", "x").in("Y", "w").out("Out", "y").build());
        InferenceModels.save(folder.resolve("checked"), program, List.of("x"), List.of("y"), _ -> normal(1, 6, 4));
        Path data = folder.resolve("other.npy");
        for (Tensor wrong : List.of(normal(2, 20, 5), Tensor.of(new double[120], 20, 6), normal(2, 20, 6, 1))) {
            Npy.write(data, wrong);
            assertEquals(2, run(folder.resolve("checked.pdmodel"), "--calibrate", data));
            assertTrue(err.toString().contains("Feed 'x' must be float32[-1, 6] (-1 matches any), but " + data
                    + " has batches of " + wrong.dtype()), err.toString());
            assertEquals("", out.toString());
        }
    }
}

package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.convert.ConvertCommand;
import io.seriatim.cli.run.RunCommand;
import io.seriatim.cli.show.ShowCommand;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.TrainingMode;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Models in training mode and dimensions that are given at load, in the formats of PaddlePaddle and MXNet. */
class LoadOptionsTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder = Path.of("");

    private int call(Class<?> command, Object... args) {
        String[] texts = Arrays.stream(args).map(Object::toString).toArray(String[]::new);
        return new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true).setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err)).execute(texts);
    }

    /** y = dropout(batch_norm(x · w)), as it is trained. */
    private Path write(String name) throws IOException {
        Program program = new Program();
        program.global().put(new VarDesc("x", VarType.dense(DType.FLOAT32, -1, 2), null, true, null, true));
        for (String each : List.of("scale", "bias", "mean", "variance")) {
            program.global().put(VarDesc.of(each, VarType.dense(DType.FLOAT32, 2)).persistent());
        }
        program.global().put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 2, 2)).persistent());
        for (String each : List.of("product", "normal", "y")) {
            program.global().put(VarDesc.of(each, VarType.dense(DType.FLOAT32, -1, 2)));
        }
        for (String each : List.of("savedMean", "savedVariance")) {
            program.global().put(VarDesc.of(each, VarType.dense(DType.FLOAT32, 2)));
        }
        program.global().put(VarDesc.of("mask", VarType.dense(DType.UINT8, -1, 2)));
        program.global()
                .add(OpDesc.of("matmul_v2").in("X", "x").in("Y", "w").out("Out", "product").attr("trans_x", false)
                        .attr("trans_y", false).build())
                .add(OpDesc.of("batch_norm").in("X", "product").in("Scale", "scale").in("Bias", "bias")
                        .in("Mean", "mean").in("Variance", "variance").out("Y", "normal").out("MeanOut", "mean")
                        .out("VarianceOut", "variance").out("SavedMean", "savedMean")
                        .out("SavedVariance", "savedVariance").attr("epsilon", 1e-5f).attr("momentum", 0.9f)
                        .attr("is_test", false).attr("data_layout", "NCHW").attr("use_global_stats", false)
                        .attr("trainable_statistics", false).build())
                .add(OpDesc.of("dropout").in("X", "normal").out("Out", "y").out("Mask", "mask")
                        .attr("dropout_prob", 0.5f).attr("is_test", false)
                        .attr("dropout_implementation", "upscale_in_train").attr("fix_seed", false).attr("seed", 0)
                        .build());
        Path path = folder.resolve(name);
        InferenceModels.save(path, new InferenceModel(program, List.of("x"), List.of("y"),
                Map.of("w", Tensor.of(new float[]{1, 0, 0, 1}, 2, 2), "scale", floats(2, 2), "bias", floats(1, 1),
                        "mean", floats(3, 3), "variance", floats(4, 4))));
        return path;
    }

    private static Tensor floats(float... values) {
        return Tensor.of(values, values.length);
    }

    /** What is logged while a model is loaded. */
    private static List<String> logged(Path path, LoadOptions options) throws IOException {
        List<String> messages = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord logged) {
                messages.add(logged.getMessage());
            }

            @Override
            public void flush() {
                // Nothing is kept back.
            }

            @Override
            public void close() {
                // There is nothing to close.
            }
        };
        Logger logger = Logger.getLogger("io.seriatim.graph");
        logger.addHandler(handler);
        try {
            InferenceModels.load(path, options).close();
        } finally {
            logger.removeHandler(handler);
        }
        return messages;
    }

    @ParameterizedTest
    @ValueSource(strings = {"m.pdmodel", "m.json"})
    void inferenceIsOneOptionInJavaAndInCommands(String name) throws IOException {
        Path path = write(name);
        LoadOptions inference = LoadOptions.defaults().inference();
        List<String> messages = logged(path, LoadOptions.defaults());
        assertEquals(1, messages.size());
        assertTrue(messages.getFirst().contains("is in training mode") && messages.getFirst().contains("1 × batch_norm")
                && messages.getFirst().contains("1 × dropout"), messages.getFirst());
        assertEquals(List.of(), logged(path, inference));
        try (InferenceModel model = InferenceModels.load(path, inference)) {
            assertEquals("", TrainingMode.describe(model.program()));
        }
        assertEquals(0, call(ShowCommand.class, "--program", path, "--summary"), err::toString);
        assertTrue(out.toString().contains("mode         training: "), out.toString());
        out.getBuffer().setLength(0);
        assertEquals(0, call(ShowCommand.class, "--program", path, "--summary", "--inference"), err::toString);
        assertFalse(out.toString().contains("mode "), out.toString());
        Npy.write(folder.resolve("x.npy"), Tensor.of(new float[]{9, 9, 5, 5}, 2, 2));
        assertEquals(0, call(RunCommand.class, "--program", path, "--feed", "x=" + folder.resolve("x.npy"),
                "--inference", "--out", folder), err::toString);
        Path result = Files.exists(folder.resolve("y.npy")) ? folder.resolve("y.npy") : null;
        assertArrayEquals(new float[]{7, 7, 3, 3},
                Npy.read(Objects.requireNonNull(result, () -> err.toString())).toFloatArray(), 1e-3f);
        Path converted = folder.resolve("c.onnx");
        assertEquals(2, call(ConvertCommand.class, path, converted), "ONNX has no such form");
        assertEquals(0, call(ConvertCommand.class, path, converted, "--inference", "--verify", "--shape", "x=3,2"),
                err::toString);
        try (InferenceModel model = InferenceModels.load(converted)) {
            assertEquals(List.of(-1L, 2L), model.program().global().get("x").tensor().dims(), "it stays open");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"m.pdmodel", "m.json"})
    void dimensionsAreGivenInCommands(String name) throws IOException {
        Path path = write(name);
        try (InferenceModel model = InferenceModels.load(path, LoadOptions.defaults().shape("x", 7, 2))) {
            assertEquals(List.of(7L, 2L), model.program().global().get("x").tensor().dims());
            assertEquals(List.of(7L, 2L), model.program().global().get(model.fetches().getFirst()).tensor().dims());
        }
        assertEquals(0, call(ShowCommand.class, "--program", path, "--summary", "--shape", "x=7,2"), err::toString);
        assertTrue(out.toString().contains("float32[7, 2]") || name.endsWith("pdmodel"), out.toString());
        Npy.write(folder.resolve("x.npy"), Tensor.of(new float[4], 2, 2));
        assertEquals(2, call(RunCommand.class, "--program", path, "--feed", "x=" + folder.resolve("x.npy"), "--shape",
                "x=7,2", "--out", folder));
        assertTrue(err.toString().contains("Feed 'x' must be float32[7, 2]"), err.toString());
        for (String[] each : new String[][]{{"x=2,3", "declares [-1, 2]"}, {"q=1", "'q', which is no feed"},
                {"x=a", "must be dimensions from 0 on"}}) {
            for (Class<?> command : List.of(RunCommand.class, ShowCommand.class)) {
                err.getBuffer().setLength(0);
                assertEquals(2, call(command, "--program", path, "--shape", each[0]), err::toString);
                assertTrue(err.toString().contains(each[1]), err::toString);
            }
        }
    }

    @Test
    void dimensionsOfMxnetAreGiven() throws IOException {
        Path path = Files.writeString(folder.resolve("m-symbol.json"), """
                {"nodes": [{"op": "null", "name": "x", "attrs": {"__shape__": "(0, 3)"}, "inputs": []},
                {"op": "null", "name": "z", "inputs": []},
                {"op": "_copy", "name": "y", "inputs": [[0, 0, 0]]}, {"op": "_copy", "name": "w",
                "inputs": [[1, 0, 0]]}], "arg_nodes": [0, 1], "heads": [[2, 0, 0], [3, 0, 0]],
                "attrs": {"mxnet_version": ["int", 10901]}}
                """);
        byte[] none = new byte[32];
        none[0] = 0x12;
        none[1] = 1;
        Files.write(folder.resolve("m-0000.params"), none);
        try (InferenceModel model = InferenceModels.load(path,
                LoadOptions.defaults().shape("x", 2, 3).shape("z", 4, -1, 5))) {
            assertEquals(List.of(2L, 3L), model.program().global().get("x").tensor().dims());
            assertEquals(List.of(4L, -1L, 5L), model.program().global().get("z").tensor().dims());
        }
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> InferenceModels.load(path, LoadOptions.defaults().shape("x", 2, 4))).getMessage())
                .contains("declares [-1, 3]"));
    }
}

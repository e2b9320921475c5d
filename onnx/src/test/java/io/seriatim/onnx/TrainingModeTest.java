package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.program.TrainingMode;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that were exported in training mode, and dimensions that are given when a file is loaded. */
class TrainingModeTest {
    private static final int FLOAT = 1;
    private static final int BOOL = 9;
    private static final LoadOptions INFERENCE = LoadOptions.defaults().inference();

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    private static WireMessage value(String name, String... dims) {
        WireMessage shape = message();
        for (String dim : dims) {
            shape.message(1, dim.matches("[0-9]+") ? message().number(1, Long.parseLong(dim)) : message().text(2, dim));
        }
        return message().text(1, name).message(2, message().message(1, message().number(1, FLOAT).message(2, shape)));
    }

    private static WireMessage floats(String name, float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float each : values) {
            bytes.putFloat(each);
        }
        return message().number(1, values.length).number(2, FLOAT).text(8, name).bytes(9, bytes.array());
    }

    private static WireMessage flag(String name) {
        return message().number(2, BOOL).text(8, name).bytes(9, new byte[]{1});
    }

    private static WireMessage integer(String name, long value) {
        return message().text(1, name).number(3, value).number(20, 2);
    }

    private Path write(WireMessage graph, int opset) throws IOException {
        return Files.write(folder.resolve("m.onnx"), WireMessage.model(graph.text(2, "g"), opset).toBytes());
    }

    private static Map<String, Tensor> run(InferenceModel model, Tensor x) {
        try (Executor executor = Executor.builder().build()) {
            model.parameters().forEach(executor.scope()::setCopy);
            return executor.run(model.program(), Map.of("x", x), new Fetches(model.fetches())).all();
        }
    }

    private static float[] get(Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(name), name).toFloatArray();
    }

    @ParameterizedTest
    @CsvSource({"12, false", "13, true", "17, false", "17, true"})
    void dropoutsOfTrainingPassEverythingOnForInference(int opset, boolean mask) throws IOException {
        WireMessage dropout = message().texts(1, "x", "", "training").texts(2, "y");
        WireMessage graph = message().message(1, (mask ? dropout.text(2, "mask") : dropout).text(4, "Dropout"))
                .message(5, flag("training")).message(11, value("x", "n")).message(12, value("y", "n"));
        Path file = write(graph, opset);
        float[] ones = new float[64];
        Arrays.fill(ones, 1);
        Tensor x = Tensor.of(ones, 64);
        try (InferenceModel model = InferenceModels.load(file);
                InferenceModel inference = InferenceModels.load(file, INFERENCE)) {
            assertEquals(1, TrainingMode.operations(model.program()).values().stream().mapToInt(each -> each).sum());
            assertFalse(Arrays.equals(ones, get(run(model, x), "y")), "half of the elements are dropped");
            assertEquals("", TrainingMode.describe(inference.program()));
            assertArrayEquals(ones, get(run(inference, x), "y"));
        }
    }

    /** Whether it trains is known only when the model runs. */
    @Test
    void aComputedTrainingModeIsSaid() throws IOException {
        WireMessage dropout = message().texts(1, "x", "", "train").texts(2, "y").text(4, "Dropout");
        WireMessage graph = message().message(1, dropout).message(11, value("x", "n"))
                .message(11, WireMessage.value("train", 9)).message(12, value("y", "n"));
        Path file = write(graph, 17);
        try (InferenceModel model = InferenceModels.load(file);
                InferenceModel inference = InferenceModels.load(file, INFERENCE)) {
            assertEquals(1, TrainingMode.operations(model.program()).values().stream().mapToInt(each -> each).sum());
            assertEquals("", TrainingMode.describe(inference.program()));
        }
    }

    @ParameterizedTest
    @CsvSource({"9, 5", "14, 3", "15, 3", "15, 1"})
    void normalisationsOfTrainingUseTheFilesStatisticsForInference(int opset, int results) throws IOException {
        WireMessage node = message().texts(1, "x", "scale", "bias", "mean", "var")
                .texts(2, List.of("y", "m", "v", "sm", "sv").subList(0, results).toArray(String[]::new))
                .text(4, "BatchNormalization");
        if (opset >= 14) {
            node.message(5, integer("training_mode", 1));
        }
        WireMessage graph = message().message(1, node).message(5, floats("scale", 2)).message(5, floats("bias", 1))
                .message(5, floats("mean", 3)).message(5, floats("var", 4)).message(11, value("x", "n", "1"))
                .message(12, value("y", "n", "1"));
        if (results > 1) {
            graph.message(12, value("m", "1")).message(12, value("v", "1"));
        }
        Path file = write(graph, opset);
        Tensor x = Tensor.of(new float[]{1, 5}, 2, 1);
        try (InferenceModel model = InferenceModels.load(file);
                InferenceModel inference = InferenceModels.load(file, INFERENCE)) {
            assertEquals("1 × BatchNormalization", TrainingMode.describe(model.program()));
            assertEquals("1 × BatchNormalization", TrainingMode.describe(InferenceModels
                    .of(model.program(), model.feeds(), model.fetches(), model.parameters()::get).program()));
            assertArrayEquals(new float[]{-1, 3}, get(run(model, x), "y"), 1e-4f);
            assertEquals("", TrainingMode.describe(inference.program()));
            Map<String, Tensor> found = run(inference, x);
            assertArrayEquals(new float[]{-1, 3}, get(found, "y"), 1e-4f);
            assertArrayEquals(new float[]{7, 7}, get(run(inference, Tensor.of(new float[]{9, 9}, 2, 1)), "y"), 1e-4f);
            assertArrayEquals(new float[]{1, 1}, get(run(model, Tensor.of(new float[]{9, 9}, 2, 1)), "y"), 1e-4f);
            if (results > 1) {
                assertEquals(3, get(found, "m")[0]);
                assertEquals(4, get(found, "v")[0]);
                assertEquals(0.9f * 3 + 0.1f * 3, get(run(model, x), "m")[0], 1e-5f);
            }
        }
    }

    /** The file has x [n, c] and z [n], and computes the mean of x over all elements with their number. */
    private Path open() throws IOException {
        return write(message().message(1, message().texts(1, "x").text(2, "count").text(4, "Size"))
                .message(1, message().texts(1, "z").text(2, "w").text(4, "Relu"))
                .message(11, value("x", "n", "3")).message(11, value("z", "n"))
                .message(12, value("count")).message(12, value("w", "n")), 17);
    }

    @Test
    void shapesAreGivenWhenAFileIsLoaded() throws IOException {
        Path file = open();
        try (InferenceModel model = InferenceModels.load(file, LoadOptions.defaults().shape("x", 2, -1));
                InferenceModel free = InferenceModels.load(file);
                Executor executor = Executor.builder().build()) {
            assertEquals(List.of(2L, 3L), model.program().global().get("x").tensor().dims());
            assertEquals(List.of(2L), model.program().global().get("z").tensor().dims(), "the dimension has a name");
            assertEquals(List.of(-1L), free.program().global().get("z").tensor().dims());
            Tensor wrong = Tensor.of(new float[9], 3, 3);
            Map<String, Tensor> fed = Map.of("x", wrong, "z", Tensor.of(new float[3], 3));
            assertEquals(9, Objects.requireNonNull(
                    executor.run(free.program(), fed, new Fetches(free.fetches())).all().get("count"))
                    .toLongArray()[0]);
            Map<String, Tensor> right = Map.of("x", Tensor.of(new float[6], 2, 3), "z", Tensor.of(new float[2], 2));
            assertEquals(6, Objects.requireNonNull(
                    executor.run(model.program(), right, new Fetches(model.fetches())).all().get("count"))
                    .toLongArray()[0]);
            assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> executor.run(model.program(), fed, new Fetches(model.fetches()))).getMessage())
                    .contains("float32[2, 3]"));
        }
    }

    @Test
    void shapesThatContradictTheFileAreRefused() throws IOException {
        Path file = open();
        LoadOptions options = LoadOptions.defaults();
        for (Map.Entry<LoadOptions, String> each : Map.of(options.shape("x", 2, 4), "declares [-1, 3]",
                options.shape("x", 2), "declares [-1, 3]", options.shape("q", 2), "the feeds are [x, z]",
                options.shape("x", 2, 3).shape("z", 4), "The dimension 'n' has one size").entrySet()) {
            String text = String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> InferenceModels.load(file, each.getKey())).getMessage());
            assertTrue(text.contains(each.getValue()), text);
        }
        assertThrows(IllegalArgumentException.class, () -> options.shape("x", -2));
        assertThrows(IllegalArgumentException.class, () -> options.shape("x", 2).shape("x", 3));
    }
}

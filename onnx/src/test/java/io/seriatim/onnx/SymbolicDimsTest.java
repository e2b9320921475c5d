package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.BadRequestException;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.RequestBatcher;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Dimensions of feeds that have one name have one size. */
final class SymbolicDimsTest {
    private static final int FLOAT = 1;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    /** A tensor whose dimensions are numbers or names. */
    private static WireMessage value(String name, String... dims) {
        WireMessage shape = message();
        for (String dim : dims) {
            shape.message(1, dim.matches("[0-9]+") ? message().number(1, Long.parseLong(dim)) : message().text(2, dim));
        }
        return message().text(1, name).message(2, message().message(1, message().number(1, FLOAT).message(2, shape)));
    }

    /** A model that does not compute from x and mask together, so that no operation would find other sizes. */
    private Path model(String first, String second) throws IOException {
        WireMessage graph = message().text(2, "g").message(1, message().texts(1, "x").text(2, "y").text(4, "Relu"))
                .message(1, message().texts(1, "mask").text(2, "z").text(4, "Relu"))
                .message(11, value("x", first, second, "2")).message(11, value("mask", first, second))
                .message(12, value("y", first, second, "2")).message(12, value("z", first, second));
        return Files.write(folder.resolve("model.onnx"), WireMessage.model(graph, 17).toBytes());
    }

    private static Tensor zeros(int... dims) {
        int size = 1;
        long[] all = new long[dims.length];
        for (int i = 0; i < dims.length; i++) {
            size *= dims[i];
            all[i] = dims[i];
        }
        return Tensor.of(new float[size], all);
    }

    private static void assertRefused(Executable run) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, run).getMessage());
        for (String part : new String[]{"'length'", "'x'", "'mask'", "has 3", "has 4", "axis 1"}) {
            assertTrue(message.contains(part), message);
        }
    }

    @Test
    void otherSizesAreRefusedBeforeARun() throws IOException {
        try (InferenceModel model = OnnxModels.load(model("batch", "length"));
                Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
            Interpreter interpreter = Interpreter.of(Kernels.system());
            RequestBatcher batcher = RequestBatcher.of(plan, 8);
            Tensor x = zeros(2, 3, 2);
            Map<String, Tensor> other = Map.of("x", x, "mask", zeros(2, 4));
            assertRefused(() -> plan.run(x, zeros(2, 4)));
            assertRefused(() -> executor.run(model.program(), other, new Fetches(model.fetches())));
            assertRefused(() -> interpreter.run(model.program(), other, model.fetches()));
            assertRefused(() -> batcher.run(x, zeros(2, 4)));
            assertArrayEquals(new long[]{2, 3}, plan.run(x, zeros(2, 3)).get("z").shape().dims());
            assertArrayEquals(new long[]{2, 3}, batcher.run(x, zeros(2, 3)).get("z").shape().dims());
        }
    }

    @Test
    void namesOutliveWhatIsDoneWithAModel() throws IOException {
        Path file = model("batch", "length");
        try (InferenceModel model = OnnxModels.load(file);
                InferenceModel part = InferenceModels.of(model.program(), model.feeds(), List.of("y", "z"),
                        model.parameters()::get)) {
            assertEquals(List.of("batch", "length", ""), part.program().symbolicDims().of("x"));
            Path written = folder.resolve("written.onnx");
            OnnxModels.save(written, part);
            try (InferenceModel again = OnnxModels.load(written)) {
                assertEquals(model.program().symbolicDims(), again.program().symbolicDims());
            }
        }
    }

    /** Some converters have one mark for all dimensions that they do not know. */
    @Test
    void marksOfUnknownDimensionsAreNoNames() throws IOException {
        try (InferenceModel model = OnnxModels.load(model("?", "None"));
                Executor executor = Executor.builder().build()) {
            assertEquals(List.of(), model.program().symbolicDims().of("x"));
            executor.run(model.program(), Map.of("x", zeros(2, 3, 2), "mask", zeros(5, 7)),
                    new Fetches(model.fetches()));
        }
    }

    /** A mean that divides by a length that is known when the model is loaded. */
    @Test
    void noLengthButTheDeclaredOneIsDividedBy() throws IOException {
        for (boolean fixed : new boolean[]{true, false}) {
            WireMessage graph = message().text(2, "g")
                    .message(1, message().texts(1, "x").text(2, "shape").text(4, "Shape"))
                    .message(1, message().texts(1, "shape").text(2, "count").text(4, "Cast")
                            .message(5, message().text(1, "to").number(3, FLOAT).number(20, 2)))
                    .message(1, message().texts(1, "x").text(2, "sum").text(4, "ReduceSum"))
                    .message(1, message().texts(1, "sum", "count").text(2, "mean").text(4, "Div"))
                    .message(11, value("x", fixed ? "7" : "n")).message(12, value("mean", "1"));
            Path file = Files.write(folder.resolve("mean.onnx"), WireMessage.model(graph, 17).toBytes());
            try (InferenceModel model = OnnxModels.load(file); Executor executor = Executor.builder().build()) {
                Tensor ones = Tensor.of(new float[]{1, 1, 1, 1}, 4);
                if (fixed) {
                    String text = String.valueOf(assertThrows(BadRequestException.class, () -> executor
                            .run(model.program(), Map.of("x", ones), new Fetches(model.fetches()))).getMessage());
                    assertTrue(text.contains("'x'") && text.contains("float32[7]") && text.contains("[4]"), text);
                } else {
                    assertEquals(1f, executor.run(model.program(), Map.of("x", ones), new Fetches(model.fetches()))
                            .get("mean").toFloatArray()[0]);
                }
            }
        }
    }
}

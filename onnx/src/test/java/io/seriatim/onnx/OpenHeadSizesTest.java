package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sizes that a file leaves open follow from other operands where they can, and are refused by name where not. */
class OpenHeadSizesTest {
    private static final int FLOAT = 1;
    private static final int INT64 = 7;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    private static WireMessage number(String name, long value) {
        return message().text(1, name).number(20, 2).number(3, value);
    }

    private InferenceModel loaded(Map<String, long[]> inputs, WireMessage node) throws IOException {
        WireMessage graph = message().text(2, "g").message(12, message().text(1, "y")).message(1, node);
        inputs.forEach(
                (name, dims) -> graph.message(11, WireMessage.value(name, name.equals("axes") ? INT64 : FLOAT, dims)));
        WireMessage model = WireMessage.model(graph, 27);
        return OnnxModels.load(Files.write(folder.resolve("open.onnx"), model.toBytes()));
    }

    private static float[] run(InferenceModel model, Map<String, long[]> shapes) {
        Map<String, Tensor> feeds = new HashMap<>();
        shapes.forEach((name, dims) -> {
            Tensor tensor = Tensor.allocate(DType.FLOAT32, dims);
            float[] numbers = new float[(int) tensor.shape().size()];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = (i * 5 % 7 - 2 + name.length()) / 4f;
            }
            feeds.put(name, Tensor.of(numbers, dims));
        });
        return Objects.requireNonNull(Interpreter.of(Kernels.portable()).run(model.program(), feeds, List.of("y"))
                .get("y")).toFloatArray();
    }

    private void assertSame(WireMessage node, Map<String, long[]> closed, Map<String, long[]> open) throws IOException {
        try (InferenceModel first = loaded(closed, node); InferenceModel second = loaded(open, node)) {
            assertArrayEquals(run(first, closed), run(second, closed));
        }
    }

    private void assertRefused(WireMessage node, Map<String, long[]> inputs, String... parts) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> loaded(inputs, node).close()).getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), message);
        }
    }

    private static Map<String, long[]> shapes(Object... namesAndShapes) {
        Map<String, long[]> shapes = new LinkedHashMap<>();
        for (int i = 0; i < namesAndShapes.length; i += 2) {
            shapes.put((String) namesAndShapes[i], (long[]) namesAndShapes[i + 1]);
        }
        return shapes;
    }

    private static long[] dims(long... dims) {
        return dims;
    }

    @Test
    void linearAttention() throws IOException {
        WireMessage node = message().texts(1, "q", "k", "v", "past").text(2, "y").text(4, "LinearAttention")
                .message(5, number("q_num_heads", 2)).message(5, number("kv_num_heads", 2))
                .message(5, message().text(1, "update_rule").number(20, 3).text(4, "linear"));
        Map<String, long[]> closed =
                shapes("q", dims(1, 3, 4), "k", dims(1, 3, 4), "v", dims(1, 3, 6), "past", dims(1, 2, 2, 3));
        long[] open = dims(-1, -1, -1);
        assertSame(node, closed, shapes("q", open, "k", open, "v", open, "past", dims(-1, 2, 2, 3)));
        assertSame(node, closed, shapes("q", open, "k", dims(-1, -1, 4), "v", dims(-1, -1, 6), "past", dims(-1, 2, -1,
                -1)));
        assertRefused(node, shapes("q", open, "k", open, "v", open, "past", dims(-1, -1, -1, -1)), "LinearAttention",
                "that of queries and keys is open", "when the model is loaded");
    }

    @Test
    void causalConvolution() throws IOException {
        WireMessage node = message().texts(1, "x", "w", "", "past").text(2, "y").text(4, "CausalConvWithState");
        Map<String, long[]> closed = shapes("x", dims(1, 2, 5), "w", dims(2, 1, 3), "past", dims(1, 2, 2));
        assertSame(node, closed, shapes("x", dims(1, 2, -1), "w", dims(-1, 1, -1), "past", dims(-1, -1, 2)));
        assertRefused(node, shapes("x", dims(1, 2, -1), "w", dims(2, 1, -1), "past", dims(-1, -1, -1)),
                "CausalConvWithState", "declare it in the file");
        assertRefused(node, shapes("x", dims(1, 2, -1), "w", dims(2, 1), "past", dims(1, 2, 2)), "of 3 dimensions");
    }

    @Test
    void reductionAlongFedAxes() {
        for (String type : List.of("ReduceSum", "ReduceMean", "ReduceLogSumExp")) {
            assertRefused(message().texts(1, "x", "axes").text(2, "y").text(4, type).message(5, number("keepdims", 0)),
                    shapes("x", dims(-1, -1), "axes", dims(-1)), type, "declare the length of Axes");
        }
    }
}

package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What steps give is empty if there are none, but has the type and the other dimensions. */
final class LoopsWithoutStepsTest {
    private static final int FLOAT = 1;
    private static final int INT64 = 7;
    private static final int BOOL = 9;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    private static WireMessage value(String name, int type, long... dims) {
        WireMessage shape = message();
        for (long dim : dims) {
            shape.message(1, dim < 0 ? message().text(2, "n" + -dim) : message().number(1, dim));
        }
        return message().text(1, name).message(2, message().message(1, message().number(1, type).message(2, shape)));
    }

    private static WireMessage node(String type, List<String> outputs, String... inputs) {
        return message().texts(1, inputs).texts(2, outputs.toArray(String[]::new)).text(4, type);
    }

    private static WireMessage body(WireMessage graph) {
        return message().text(1, "body").message(6, graph).number(20, 5);
    }

    private static WireMessage integer(String name, long value) {
        return message().text(1, name).number(3, value).number(20, 2);
    }

    private static WireMessage integers(String name, long... values) {
        WireMessage attribute = message().text(1, name).number(20, 7);
        for (long value : values) {
            attribute.number(8, value);
        }
        return attribute;
    }

    private Map<String, Tensor> run(WireMessage graph, Map<String, Tensor> feeds) throws IOException {
        WireMessage root = WireMessage.model(graph, 17);
        Path file = Files.write(folder.resolve("loop.onnx"), root.toBytes());
        try (InferenceModel model = OnnxModels.load(file); Executor executor = Executor.builder().build()) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            model.parameters().forEach(interpreter::set);
            model.parameters().forEach(executor.scope()::set);
            Map<String, Tensor> results = new LinkedHashMap<>(
                    interpreter.run(model.program(), feeds, model.fetches()));
            Tensor[] fed = model.feeds().stream().map(name -> get(feeds, name)).toArray(Tensor[]::new);
            executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches())).run(fed).all()
                    .forEach((name, each) -> assertEquals(get(results, name).spec(), each.spec(), name));
            return results;
        }
    }

    private static Tensor get(Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(name), name);
    }

    private static void assertIs(Tensor tensor, DType dtype, long... dims) {
        assertEquals(dtype, tensor.dtype());
        assertArrayEquals(dims, tensor.shape().dims());
    }

    /** A loop that passes on x [2, 3] and gives its steps' doubled values, their numbers, and each as whole numbers. */
    private static WireMessage loop() {
        WireMessage inner = message().text(2, "b")
                .message(1, node("Add", List.of("next"), "state", "state"))
                .message(1, node("Identity", List.of("number"), "i"))
                .message(1,
                        message().texts(1, "next").text(2, "whole").text(4, "Cast").message(5, integer("to", INT64)))
                .message(1, node("Identity", List.of("again"), "c"))
                .message(11, value("i", INT64)).message(11, value("c", BOOL)).message(11, value("state", FLOAT, 2, 3))
                .message(12, value("again", BOOL)).message(12, value("next", FLOAT, 2, 3))
                .message(12, value("doubled", FLOAT, 2, 3)).message(12, value("number", INT64))
                .message(12, value("whole", INT64, 2, 3))
                .message(1, node("Identity", List.of("doubled"), "next"));
        return message().text(2, "g")
                .message(1, node("Loop", List.of("last", "all", "numbers", "wholes"), "count", "go", "x")
                        .message(5, body(inner)))
                .message(11, value("count", INT64)).message(11, value("go", BOOL)).message(11, value("x", FLOAT, 2, 3))
                .message(12, value("last", FLOAT, 2, 3)).message(12, value("all", FLOAT, -1, 2, 3))
                .message(12, value("numbers", INT64, -1)).message(12, value("wholes", INT64, -1, 2, 3));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 2})
    void ofLoops(long count) throws IOException {
        for (int go = 0; go < 2; go++) {
            Tensor x = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3);
            Map<String, Tensor> results = run(loop(), Map.of("count", Tensor.of(DType.INT64, new double[]{count}), "go",
                    Tensor.of(DType.BOOL, new double[]{go}), "x", x));
            long steps = go == 0 ? 0 : Math.max(0, count);
            assertIs(get(results, "all"), DType.FLOAT32, steps, 2, 3);
            assertIs(get(results, "numbers"), DType.INT64, steps);
            assertIs(get(results, "wholes"), DType.INT64, steps, 2, 3);
            assertEquals(1f * (1 << steps), get(results, "last").toFloatArray()[0]);
        }
    }

    @Test
    void ofScans() throws IOException {
        WireMessage inner = message().text(2, "b")
                .message(1, node("Add", List.of("next"), "state", "part"))
                .message(1, node("Mul", List.of("given"), "part", "part"))
                .message(11, value("state", FLOAT, 3)).message(11, value("part", FLOAT, 3))
                .message(12, value("next", FLOAT, 3)).message(12, value("given", FLOAT, 3));
        WireMessage scan = node("Scan", List.of("sum", "all"), "start", "x").message(5, body(inner))
                .message(5, integer("num_scan_inputs", 1)).message(5, integers("scan_output_axes", 1))
                .message(5, integers("scan_output_directions", 1));
        WireMessage graph = message().text(2, "g").message(1, scan).message(11, value("start", FLOAT, 3))
                .message(11, value("x", FLOAT, -1, 3)).message(12, value("sum", FLOAT, 3))
                .message(12, value("all", FLOAT, 3, -1));
        for (int steps : new int[]{0, 4}) {
            Map<String, Tensor> results = run(graph, Map.of("start", Tensor.of(new float[]{1, 2, 3}, 3), "x",
                    Tensor.of(new float[3 * steps], steps, 3)));
            assertIs(get(results, "all"), DType.FLOAT32, 3, steps);
            assertArrayEquals(new float[]{1, 2, 3}, get(results, "sum").toFloatArray());
        }
    }
}

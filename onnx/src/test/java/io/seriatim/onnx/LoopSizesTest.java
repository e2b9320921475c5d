package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
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

/** What a body says of the sizes of a value that has others in each step. */
final class LoopSizesTest {
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
                    .forEach((name, each) -> assertArrayEquals(get(results, name).toDoubleArray(),
                            each.toDoubleArray(), name));
            return results;
        }
    }

    private static Tensor get(Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(name), name);
    }

    @Test
    void theShapeOfAGrowingValueIsThatOfTheStep() throws IOException {
        WireMessage inner = message().text(2, "b")
                .message(1, node("Concat", List.of("next"), "state", "state").message(5, integer("axis", 0)))
                .message(1, node("Shape", List.of("before"), "state"))
                .message(1, node("Shape", List.of("after"), "next"))
                .message(1, node("Identity", List.of("again"), "c"))
                .message(11, value("i", INT64)).message(11, value("c", BOOL)).message(11, value("state", FLOAT, -1, 3))
                .message(12, value("again", BOOL)).message(12, value("next", FLOAT, -1, 3))
                .message(12, value("before", INT64, 2)).message(12, value("after", INT64, 2));
        WireMessage graph = message().text(2, "g")
                .message(1, node("Loop", List.of("last", "befores", "afters"), "count", "", "x")
                        .message(5, body(inner)))
                .message(1, node("Shape", List.of("size"), "last"))
                .message(11, value("count", INT64)).message(11, value("x", FLOAT, 1, 3))
                .message(12, value("befores", INT64, -1, 2)).message(12, value("afters", INT64, -1, 2))
                .message(12, value("size", INT64, 2));
        Map<String, Tensor> results = run(graph, Map.of("count", Tensor.of(new long[]{3}).reshape(), "x",
                Tensor.of(new float[]{1, 2, 3}, 1, 3)));
        assertArrayEquals(new long[]{1, 3, 2, 3, 4, 3}, get(results, "befores").toLongArray());
        assertArrayEquals(new long[]{2, 3, 4, 3, 8, 3}, get(results, "afters").toLongArray());
        assertArrayEquals(new long[]{8, 3}, get(results, "size").toLongArray());
    }
}

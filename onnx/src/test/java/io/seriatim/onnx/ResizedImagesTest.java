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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Images that are resized and padded between convolutions, which may lie in memory with their channels last. */
final class ResizedImagesTest {
    private static final int FLOAT = 1;
    private static final int INT64 = 7;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    private static WireMessage attribute(String name, String value) {
        return message().text(1, name).bytes(4, value.getBytes(StandardCharsets.UTF_8)).number(20, 3);
    }

    private static WireMessage floats(String name, long[] dims, double... values) {
        WireMessage tensor = message().number(2, FLOAT).text(8, name);
        for (long dim : dims) {
            tensor.number(1, dim);
        }
        for (double value : values) {
            tensor.real(4, (float) value);
        }
        return tensor;
    }

    private static WireMessage longs(String name, long... values) {
        WireMessage tensor = message().number(2, INT64).text(8, name).number(1, values.length);
        for (long value : values) {
            tensor.number(7, value);
        }
        return tensor;
    }

    private static WireMessage node(String type, String out, String... in) {
        return message().texts(1, in).text(2, out).text(4, type);
    }

    private static double[] weights(long seed, int count) {
        return new Random(seed).doubles(count, -0.5, 0.5).toArray();
    }

    private Path model(String resize, String pad, double constant) throws IOException {
        WireMessage graph = message().text(2, "g")
                .message(1, node("Conv", "a", "x", "w0"))
                .message(1, node("Resize", "b", "a", "", "scales").message(5, attribute("mode", resize))
                        .message(5, attribute("coordinate_transformation_mode", "asymmetric"))
                        .message(5, attribute("nearest_mode", "floor")))
                .message(1, node("Conv", "c", "b", "w1"))
                .message(1, node("Relu", "d", "c"))
                .message(1, node("Pad", "e", "d", "pads", "constant").message(5, attribute("mode", pad)))
                .message(1, node("Conv", "y", "e", "w1"))
                .message(5, floats("w0", new long[]{8, 3, 3, 3}, weights(1, 216)))
                .message(5, floats("w1", new long[]{8, 8, 3, 3}, weights(2, 576)))
                .message(5, floats("scales", new long[]{4}, 1, 1, 2, 1.5))
                .message(5, longs("pads", 0, 0, 1, 2, 0, 0, 3, 0))
                .message(5, floats("constant", new long[0], constant))
                .message(11, WireMessage.value("x", FLOAT, 2, 3, 10, 12))
                .message(12, WireMessage.value("y", FLOAT, 2, 8, 18, 13));
        return Files.write(folder.resolve("model.onnx"), WireMessage.model(graph, 17).toBytes());
    }

    @ParameterizedTest
    @CsvSource({"nearest,constant,0", "nearest,reflect,0", "linear,constant,-1.5", "linear,edge,0", "cubic,reflect,0"})
    void betweenConvolutions(String resize, String pad, double constant) throws IOException {
        Tensor x = Tensor.of(DType.FLOAT32, weights(3, 720), 2, 3, 10, 12);
        try (InferenceModel model = OnnxModels.load(model(resize, pad, constant));
                Executor executor = Executor.builder().threads(1).build()) {
            Map<String, Tensor> all = new HashMap<>(model.parameters());
            all.put("x", x);
            Tensor expected = Objects.requireNonNull(
                    Interpreter.of(Kernels.portable()).run(model.program(), all, List.of("y")).get("y"));
            model.parameters().forEach(executor.scope()::set);
            Tensor y = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(List.of("y"))).run(x)
                    .get("y");
            assertEquals(expected.shape(), y.shape());
            assertArrayEquals(expected.toFloatArray(), y.toFloatArray(), 1e-5f);
        }
    }
}

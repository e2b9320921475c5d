package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each step of a loop gives what it passes on one more dimension; the number of steps is fed. */
final class LoopRanksTest {
    private static final int FLOAT = 1;
    private static final int INT64 = 7;
    private static final int BOOL = 9;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage value(String name, int type) {
        WireMessage tensor = new WireMessage().number(1, type);
        return new WireMessage().text(1, name).message(2,
                new WireMessage().message(1, type == FLOAT ? tensor : tensor.message(2, new WireMessage())));
    }

    private static WireMessage node(String type, String output, String... inputs) {
        return new WireMessage().texts(1, inputs).text(2, output).text(4, type);
    }

    private InferenceModel model(boolean stacks) throws IOException {
        WireMessage body = new WireMessage().text(2, "b").message(1, node("Unsqueeze", "t", "s", "k"))
                .message(1, node("Identity", "d", "c")).message(1, node("Neg", "z", "s"))
                .message(11, value("i", INT64)).message(11, value("c", BOOL)).message(11, value("s", FLOAT))
                .message(12, value("d", BOOL)).message(12, value("t", FLOAT));
        WireMessage loop = new WireMessage().texts(1, "n", "", "x").text(2, "y");
        if (stacks) {
            body.message(12, value("z", FLOAT));
            loop.text(2, "all");
        }
        WireMessage graph = new WireMessage().text(2, "g")
                .message(5, new WireMessage().number(1, 1).number(2, INT64).text(8, "k").number(7, 0))
                .message(11, value("n", INT64))
                .message(11, new WireMessage().text(1, "x").message(2, new WireMessage().message(1, new WireMessage()
                        .number(1, FLOAT).message(2, new WireMessage().message(1, new WireMessage().number(1, 2))))))
                .message(1, loop.text(4, "Loop").message(5,
                        new WireMessage().text(1, "body").message(6, body).number(20, 5)))
                .message(12, value("y", FLOAT));
        if (stacks) {
            graph.message(12, value("all", FLOAT));
        }
        return OnnxModels.load(Files.write(folder.resolve("loop.onnx"), WireMessage.model(graph, 17).toBytes()));
    }

    private static Map<String, Tensor> run(Executor executor, InferenceModel model, long steps) {
        return executor.run(model.program(), Map.of("x", Tensor.of(new float[]{1, 2}, 2), "n",
                Tensor.of(DType.INT64, new long[]{steps})), new Fetches(model.fetches())).all();
    }

    @Test
    void ranksGrowUpToALimit() throws IOException {
        try (InferenceModel model = model(false); Executor executor = Executor.builder().threads(1).build()) {
            model.parameters().forEach(executor.scope()::setCopy);
            for (int steps = 0; steps < 8; steps++) {
                Tensor y = Objects.requireNonNull(run(executor, model, steps).get("y"));
                assertEquals(steps + 1, y.shape().rank());
                assertArrayEquals(new float[]{1, 2}, y.toFloatArray());
            }
            String message = String.valueOf(
                    assertThrows(ProgramFailedException.class, () -> run(executor, model, 8)).getMessage());
            assertTrue(message.contains("Operator Loop (result 'y'): a step passes on value 1 with 9 dimensions, but a "
                    + "loop passes on a value with at most 8 numbers of dimensions; reshape it in the body"), message);
        }
    }

    @Test
    void stepsThatStackDifferentRanksFail() throws IOException {
        try (InferenceModel model = model(true); Executor executor = Executor.builder().threads(1).build()) {
            model.parameters().forEach(executor.scope()::setCopy);
            assertArrayEquals(new long[]{0},
                    Objects.requireNonNull(run(executor, model, 0).get("all")).shape().dims());
            Tensor one = Objects.requireNonNull(run(executor, model, 1).get("all"));
            assertArrayEquals(new long[]{1, 2}, one.shape().dims());
            assertArrayEquals(new float[]{-1, -2}, one.toFloatArray());
            String message = String.valueOf(
                    assertThrows(ProgramFailedException.class, () -> run(executor, model, 2)).getMessage());
            assertTrue(message.contains("a loop stacks tensors of one number of dimensions, but its steps give "
                    + "different ones"), message);
        }
    }
}

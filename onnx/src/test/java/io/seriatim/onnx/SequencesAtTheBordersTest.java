package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Results;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sequences and optional values that are inputs and outputs of a model. */
final class SequencesAtTheBordersTest {
    private static final int FLOAT = 1;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    /** The type of a matrix with the columns named 'n'. */
    private static WireMessage matrix() {
        return message().message(1, message().number(1, FLOAT)
                .message(2, message().message(1, message().text(2, "n")).message(1, message().number(1, 2))));
    }

    private static WireMessage sequence() {
        return message().message(4, message().message(1, matrix()));
    }

    private static WireMessage optional(WireMessage of) {
        return message().message(9, message().message(1, of));
    }

    private static WireMessage node(String type, String output, String... inputs) {
        return message().texts(1, inputs).text(2, output).text(4, type);
    }

    private Path model(WireMessage input, String output, WireMessage... nodes) throws IOException {
        WireMessage graph = message().text(2, "g").message(11, message().text(1, "s").message(2, input))
                .message(12, message().text(1, output));
        for (WireMessage node : nodes) {
            graph.message(1, node);
        }
        return Files.write(folder.resolve("model.onnx"), WireMessage.model(graph, 18).toBytes());
    }

    private static String refused(Path file) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> OnnxModels.load(file)).getMessage());
    }

    private static Results run(InferenceModel model, Tensor... values) {
        try (Executor executor = Executor.builder().build()) {
            model.parameters().forEach(executor.scope()::set);
            return executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()))
                    .run(values);
        }
    }

    @Test
    void theTensorsOfASequenceAreFeedsAndFetches() throws IOException {
        Path file = model(sequence(), "t", node("SequenceAt", "last", "s", "minus"), node("Neg", "x", "last"),
                node("SequenceInsert", "t", "s", "x"), node("Constant", "minus").message(5,
                        message().text(1, "value_int").number(20, 2).number(3, -1)));
        LoadOptions options = LoadOptions.defaults().shape("s.0", 1, 2).shape("s.1", -1, 2);
        try (InferenceModel model = OnnxModels.load(file, options)) {
            assertEquals(List.of("s.0", "s.1"), model.feeds());
            assertEquals(List.of("t.0", "t.1", "t.2"), model.fetches());
            Results results =
                    run(model, Tensor.of(new float[]{1, 2}, 1, 2), Tensor.of(new float[]{3, 4, 5, 6}, 2, 2));
            assertArrayEquals(new float[]{1, 2}, results.get("t.0").toFloatArray());
            assertArrayEquals(new float[]{3, 4, 5, 6}, results.get("t.1").toFloatArray());
            assertArrayEquals(new float[]{-3, -4, -5, -6}, results.get("t.2").toFloatArray());
        }
    }

    @Test
    void saysHowToTellTheLengthOfASequence() throws IOException {
        String message = refused(model(sequence(), "t", node("Identity", "t", "s")));
        assertTrue(message.contains("input 's' is a sequence"), message);
        assertTrue(message.contains("'s.0', 's.1'") && message.contains("LoadOptions.shape"), message);
    }

    @Test
    void saysWhatToFetchInPlaceOfASequenceOfUnknownLength() throws IOException {
        String message = refused(model(matrix(), "t", node("SplitToSequence", "t", "s")));
        assertTrue(message.contains("output 't' is a sequence") && message.contains("ConcatFromSequence"), message);
    }

    @Test
    void anOptionalTensorIsFedAsATensor() throws IOException {
        Path file = model(optional(matrix()), "t", node("OptionalGetElement", "x", "s"), node("Neg", "t", "x"));
        try (InferenceModel model = OnnxModels.load(file)) {
            assertEquals(List.of("s"), model.feeds());
            assertArrayEquals(new float[]{-1, -2}, run(model, Tensor.of(new float[]{1, 2}, 1, 2)).get("t")
                    .toFloatArray());
        }
        Path sequences = model(optional(sequence()), "t", node("OptionalGetElement", "x", "s"),
                node("ConcatFromSequence", "t", "x").message(5, message().text(1, "axis").number(20, 2).number(3, 0)));
        try (InferenceModel model = OnnxModels.load(sequences, LoadOptions.defaults().shape("s.0", -1, 2))) {
            assertArrayEquals(new float[]{1, 2}, run(model, Tensor.of(new float[]{1, 2}, 1, 2)).get("t")
                    .toFloatArray());
        }
    }
}

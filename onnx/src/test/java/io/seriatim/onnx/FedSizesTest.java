package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How much is computed or allocated depends on numbers that are fed. */
class FedSizesTest {
    private static final long SEED = 43;
    private static final int FLOAT = 1;
    private static final int INT64 = 7;
    private static final int ROWS = 5;
    private static final int COLUMNS = 7;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    /** With open dimensions. */
    private static WireMessage value(String name, int type, int rank) {
        WireMessage shape = message();
        for (int i = 0; i < rank; i++) {
            shape.message(1, message().text(2, name + i));
        }
        return message().text(1, name).message(2, message().message(1, message().number(1, type).message(2, shape)));
    }

    private static WireMessage node(String type, String output, String... inputs) {
        return message().texts(1, inputs).text(2, output).text(4, type);
    }

    private static WireMessage number(String name, long value) {
        return message().text(1, name).number(20, 2).number(3, value);
    }

    private static WireMessage text(String name, String value) {
        return message().text(1, name).number(20, 3).text(4, value);
    }

    private InferenceModel loaded(WireMessage graph) throws IOException {
        WireMessage model = WireMessage.model(graph, 17);
        return OnnxModels.load(Files.write(folder.resolve("fed.onnx"), model.toBytes()));
    }

    private static Tensor run(InferenceModel model, Map<String, Tensor> feeds) {
        return Objects.requireNonNull(Interpreter.of(Kernels.portable()).run(model.program(), feeds, model.fetches())
                .get(model.fetches().getFirst()));
    }

    private InferenceModel split(boolean given) throws IOException {
        WireMessage graph = message().text(2, "g").message(11, value("x", FLOAT, 1)).message(12, value("n", INT64, 0));
        if (given) {
            graph.message(11, value("lengths", INT64, 1));
        }
        return loaded(graph.message(1, given
                ? node("SplitToSequence", "s", "x", "lengths")
                : node("SplitToSequence", "s", "x")).message(1, node("SequenceLength", "n", "s")));
    }

    private static Map<String, Tensor> feeds(boolean given, int parts) {
        long[] ones = new long[parts];
        Arrays.fill(ones, 1);
        return given
                ? Map.of("x", Tensor.of(new float[parts], parts), "lengths", Tensor.of(ones, parts))
                : Map.of("x", Tensor.of(new float[parts], parts));
    }

    @Test
    void partsOfASequenceCountTowardsTheLimit() throws IOException {
        for (boolean given : new boolean[]{false, true}) {
            try (InferenceModel model = split(given)) {
                assertEquals(2000,
                        WorkingMemory.within(1 << 20, () -> run(model, feeds(given, 2000))).toLongArray()[0]);
                String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                        () -> WorkingMemory.within(1 << 20, () -> run(model, feeds(given, 1 << 20)))).getMessage());
                assertTrue(message.contains("(array_split): 536870912 bytes of working memory are needed for a list of "
                        + "1048576 tensors, but the limit is 1048576 bytes"), message);
            }
        }
    }

    @Test
    void wrongPartsAreShownInPart() throws IOException {
        try (InferenceModel model = split(true)) {
            String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> run(model,
                    Map.of("x", Tensor.of(new float[3], 3), "lengths", Tensor.of(new long[10_000], 10_000))))
                    .getMessage());
            assertTrue(message.contains("cannot be divided") && message.length() < 1000, message);
        }
    }

    private InferenceModel regions(int height, int width, boolean half) throws IOException {
        return loaded(message().text(2, "g").message(11, value("x", FLOAT, 4)).message(11, value("r", FLOAT, 2))
                .message(11, value("i", INT64, 1)).message(12, value("y", FLOAT, 4))
                .message(1, node("RoiAlign", "y", "x", "r", "i").message(5, text("mode", "max"))
                        .message(5, number("output_height", height)).message(5, number("output_width", width))
                        .message(5,
                                text("coordinate_transformation_mode", half ? "half_pixel" : "output_half_pixel"))));
    }

    private static float[] largest(InferenceModel model, float[] x, float... region) {
        return run(model, Map.of("x", Tensor.of(x, 1, 1, ROWS, COLUMNS), "r", Tensor.of(region, 1, 4), "i",
                Tensor.of(new long[]{0}, 1))).toFloatArray();
    }

    @Test
    void regionsFarBeyondAnImageVisitTheImageOnly() throws IOException {
        float[] x = new float[ROWS * COLUMNS];
        Arrays.fill(x, -1);
        float[] one = x.clone();
        one[17] = 3;
        try (InferenceModel model = regions(1, 1, true)) {
            float far = 1 << 29;
            assertArrayEquals(new float[]{3}, largest(model, one, -far, -far, far, far));
            assertArrayEquals(new float[]{0}, largest(model, x, -far, -far, far, far));
            assertArrayEquals(new float[]{0}, largest(model, one, far, far, far + far, far + far));
            String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> largest(model, x, -1e20f, 0, 1e20f, 1)).getMessage());
            assertTrue(message.contains("region 0 has cells of ") && message.contains("sampling_ratio"), message);
        }
    }

    /** With all samples. */
    @Test
    void leavingOutSamplesChangesNothing() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 60; i++) {
            boolean half = random.nextBoolean();
            int height = random.nextInt(1, 4);
            int width = random.nextInt(1, 4);
            float[] x = new float[ROWS * COLUMNS];
            for (int k = 0; k < x.length; k++) {
                x[k] = (float) random.nextDouble(i % 2 == 0 ? -2 : -1, i % 2 == 0 ? 0 : 1);
            }
            float[] region = new float[4];
            for (int k = 0; k < 4; k++) {
                region[k] = random.nextInt(-60, 60) / (random.nextBoolean() ? 1f : 8f);
            }
            try (InferenceModel model = regions(height, width, half)) {
                assertArrayEquals(expected(x, region, height, width, half), largest(model, x, region), 1e-5f,
                        "seed " + SEED + ", case " + i + ": " + Arrays.toString(region));
            }
        }
    }

    private static float[] expected(float[] x, float[] region, int height, int width, boolean half) {
        double shift = half ? 0.5 : 0;
        double tall = region[3] - region[1];
        double wide = region[2] - region[0];
        tall = (half ? tall : Math.max(tall, 1)) / height;
        wide = (half ? wide : Math.max(wide, 1)) / width;
        float[] y = new float[height * width];
        for (int cell = 0; cell < y.length; cell++) {
            double most = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < Math.ceil(tall); i++) {
                double row = region[1] - shift + Math.floorDiv(cell, width) * tall + (i + 0.5) * tall / Math.ceil(tall);
                for (int k = 0; k < Math.ceil(wide); k++) {
                    double column = region[0] - shift + (cell % width) * wide + (k + 0.5) * wide / Math.ceil(wide);
                    most = Math.max(most, sample(x, row, column));
                }
            }
            y[cell] = most == Double.NEGATIVE_INFINITY ? 0 : (float) most;
        }
        return y;
    }

    private static double sample(float[] x, double row, double column) {
        if (row < -1 || row > ROWS || column < -1 || column > COLUMNS) {
            return 0;
        }
        double down = Math.clamp(row, 0, ROWS - 1);
        double across = Math.clamp(column, 0, COLUMNS - 1);
        double most = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < 2; k++) {
                double weight = (i == 0 ? 1 - down % 1 : down % 1) * (k == 0 ? 1 - across % 1 : across % 1);
                most = Math.max(most, weight * x[Math.min((int) down + i, ROWS - 1) * COLUMNS
                        + Math.min((int) across + k, COLUMNS - 1)]);
            }
        }
        return most;
    }

    /** A walk of the stack for each operation made nested graphs slow, and told only who loads a model. */
    @Test
    void operationsOfAModelDoNotRecordWhoLoadsIt() throws IOException {
        try (InferenceModel model = split(false)) {
            for (Block block : model.program().blocks()) {
                assertFalse(block.ops().isEmpty());
                block.ops().forEach(op -> assertEquals(List.of(), op.builtAt(), op::toString));
            }
        }
        assertFalse(OpDesc.of("relu").in("X", "x").out("Out", "y").build().builtAt().isEmpty());
    }
}

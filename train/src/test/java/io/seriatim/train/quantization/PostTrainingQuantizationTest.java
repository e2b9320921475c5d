package io.seriatim.train.quantization;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.quantization.PostTrainingQuantization.Method;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PostTrainingQuantizationTest {
    private static final long SEED = 20261123;

    private final Program program = new Program();
    private final Block block = program.global();
    private final Map<String, Tensor> parameters = new LinkedHashMap<>();

    @TempDir
    private Path folder = Path.of("");

    private static Tensor normal(long salt, long... dims) {
        Random random = new Random(SEED + salt);
        float[] values = new float[(int) Shape.of(dims).size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, dims);
    }

    private void variable(String name, long... dims) {
        block.put(VarDesc.of(name, VarType.dense(DType.FLOAT32, dims)));
    }

    private void parameter(String name, Tensor value) {
        block.put(VarDesc.of(name, VarType.dense(DType.FLOAT32, value.shape().dims())).persistent());
        parameters.put(name, value);
    }

    private void step(String type, String out, Map<String, String> inputs, String slot) {
        variable(out, -1);
        OpDesc.Builder op = OpDesc.of(type).out(slot, out);
        inputs.forEach(op::in);
        block.add(op.build());
    }

    private InferenceModel model(String out) {
        return new InferenceModel(program, List.of("x"), List.of(out), parameters);
    }

    /** A convolution, a depthwise one, a product, and a product of activations. */
    private InferenceModel network() {
        variable("x", -1, 3, 8, 8);
        parameter("w1", normal(1, 8, 3, 3, 3));
        parameter("w2", normal(2, 8, 1, 3, 3));
        parameter("w3", normal(3, 8 * 4 * 4, 10));
        step("conv2d", "a", Map.of("Input", "x", "Filter", "w1"), "Output");
        step("relu", "b", Map.of("X", "a"), "Out");
        step("depthwise_conv2d", "c", Map.of("Input", "b", "Filter", "w2"), "Output");
        block.set(2, block.ops().get(2).with("groups", 8));
        step("mul", "d", Map.of("X", "c", "Y", "w3"), "Out");
        step("matmul_v2", "e", Map.of("X", "d", "Y", "d"), "Out");
        block.set(4, block.ops().get(4).with("trans_y", true));
        return model("e");
    }

    private static List<Map<String, Tensor>> batches(int count, long... dims) {
        return IntStream.range(0, count).mapToObj(i -> Map.of("x", normal(100 + i, dims))).toList();
    }

    private static double[] run(InferenceModel model, Tensor x) {
        try (Executor executor = Executor.builder().build()) {
            model.parameters().forEach(executor.scope()::set);
            return executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches())).run(x)
                    .get(model.fetches().getFirst()).toDoubleArray();
        }
    }

    private static void assertNear(double[] expected, double[] actual, double share) {
        double largest = Arrays.stream(expected).map(Math::abs).max().orElseThrow();
        assertTrue(largest > 0);
        assertArrayEquals(expected, actual, share * largest);
    }

    private static Tensor parameter(QuantizedModel quantized, String name) {
        return Objects.requireNonNull(quantized.model().parameters().get(name));
    }

    private static String refusal(InferenceModel model, Iterable<Map<String, Tensor>> batches) {
        return String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> PostTrainingQuantization.of(model).quantize(batches)).getMessage());
    }

    @ParameterizedTest
    @EnumSource(Method.class)
    void resultsStayNear(Method method) throws IOException {
        InferenceModel model = network();
        List<Map<String, Tensor>> batches = batches(4, 6, 3, 8, 8);
        try (QuantizedModel quantized = PostTrainingQuantization.of(model).method(method).threads(2)
                .quantize(batches)) {
            assertEquals(4, quantized.quantized());
            assertEquals(Map.of(), quantized.leftOut());
            assertEquals(List.of("x", "b", "c", "d"), List.copyOf(quantized.ranges().keySet()));
            assertEquals(DType.INT8, parameter(quantized, "w1").dtype());
            assertEquals(DType.FLOAT32, Objects.requireNonNull(parameters.get("w1")).dtype(),
                    "the original is not changed");
            Tensor x = normal(1000, 5, 3, 8, 8);
            double[] int8 = run(quantized.model(), x);
            // Clipping changes the few largest numbers more.
            double share = method == Method.MIN_MAX ? 0.06 : 0.4;
            assertNear(run(model, x), int8, share);
            quantized.save(folder.resolve("int8.pdmodel"));
            try (InferenceModel loaded = InferenceModels.load(folder.resolve("int8.pdmodel"))) {
                assertArrayEquals(int8, run(loaded, x));
            }
            ModelComparison.Difference difference = ModelComparison.of(model, quantized.model(), batches, null, 1)
                    .getFirst();
            assertEquals(24, difference.rows());
            assertTrue(difference.largest() > 0 && difference.mean() <= difference.largest()
                    && difference.largest() < difference.magnitude() * share
                    && difference.mean() < difference.magnitude() * 0.02, difference::toString);
        }
    }

    @Test
    void rangesAreTheLargestMagnitudes() {
        InferenceModel model = network();
        float[] values = new float[3 * 64];
        values[17] = -7.5f;
        values[80] = 3;
        try (QuantizedModel quantized = PostTrainingQuantization.of(model)
                .quantize(List.of(Map.of("x", Tensor.of(values, 1, 3, 8, 8))))) {
            assertEquals(7.5f, quantized.ranges().get("x"));
        }
    }

    @Test
    void channelsOfZerosStayZero() {
        variable("x", -1, 4);
        parameter("w", Tensor.of(new float[]{1, 0, -2, 0, 3, 0, 0.5f, 0}, 4, 2));
        step("matmul_v2", "y", Map.of("X", "x", "Y", "w"), "Out");
        InferenceModel model = model("y");
        try (QuantizedModel quantized = PostTrainingQuantization.of(model).quantize(batches(2, 3, 4))) {
            assertArrayEquals(new float[]{3, 0}, parameter(quantized, "w@scale").toFloatArray());
            double[] result = run(quantized.model(), normal(100, 3, 4));
            assertEquals(0, result[1]);
            assertNear(run(model, normal(100, 3, 4)), result, 0.02);
        }
    }

    @Test
    void fullyConnectedLayersAreWrittenAsProducts() {
        variable("x", -1, 2, 6);
        parameter("w", normal(1, 6, 5));
        parameter("b", normal(2, 5));
        step("fc", "y", Map.of("Input", "x", "W", "w", "Bias", "b"), "Out");
        block.set(0, block.ops().getFirst().with("in_num_col_dims", 2).with("activation_type", "relu"));
        InferenceModel model = model("y");
        try (QuantizedModel quantized = PostTrainingQuantization.of(model).quantize(batches(3, 4, 2, 6))) {
            assertEquals(1, quantized.quantized());
            assertNear(run(model, normal(100, 4, 2, 6)), run(quantized.model(), normal(100, 4, 2, 6)), 0.03);
        }
    }

    @Test
    void weightsThatOthersReadStayFloat32() {
        variable("x", -1, 4);
        parameter("w", normal(1, 4, 4));
        step("matmul_v2", "y", Map.of("X", "x", "Y", "w"), "Out");
        step("matmul_v2", "z", Map.of("X", "y", "Y", "w"), "Out");
        block.set(1, block.ops().get(1).with("trans_y", true));
        step("elementwise_add", "s", Map.of("X", "z", "Y", "w"), "Out");
        InferenceModel model = model("s");
        try (QuantizedModel quantized = PostTrainingQuantization.of(model).quantize(batches(3, 4, 4))) {
            assertEquals(DType.FLOAT32, parameter(quantized, "w").dtype());
            assertEquals(2, quantized.model().parameters().values().stream()
                    .filter(each -> each.dtype() == DType.INT8).count(), "levels for both axes of channels");
            assertNear(run(model, normal(100, 4, 4)), run(quantized.model(), normal(100, 4, 4)), 0.05);
        }
    }

    @Test
    void operationsThatCannotBeQuantizedAreNamed() {
        variable("x", -1, 4);
        parameter("w", normal(1, 4, 4));
        step("matmul_v2", "y", Map.of("X", "w", "Y", "x"), "Out");
        step("matmul_v2", "z", Map.of("X", "y", "Y", "w"), "Out");
        InferenceModel model = model("z");
        try (QuantizedModel quantized = PostTrainingQuantization.of(model).quantize(batches(1, 4, 4))) {
            assertEquals(1, quantized.quantized());
            assertEquals(Map.of("y", "matmul_v2: the operand 'w' is a parameter"), quantized.leftOut());
        }
    }

    @Test
    void modelsAreRefused() {
        InferenceModel model = network();
        try (QuantizedModel quantized = PostTrainingQuantization.of(model).quantize(batches(1, 2, 3, 8, 8))) {
            assertTrue(refusal(quantized.model(), batches(1, 2, 3, 8, 8)).startsWith("The model is quantized already"));
        }
        Objects.requireNonNull(parameters.get("w1")).memory().set(ValueLayout.JAVA_FLOAT, 0, Float.NaN);
        assertTrue(refusal(model("e"), batches(1, 2, 3, 8, 8)).startsWith("The activation 'b' holds NaN in batch 1"));
        Program plain = new Program();
        plain.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1)));
        plain.global().put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1)));
        plain.global().add(OpDesc.of("relu").in("X", "x").out("Out", "y").build());
        assertEquals("The model has no product or convolution that can be quantized",
                refusal(new InferenceModel(plain, List.of("x"), List.of("y"), Map.of()), batches(1, 4)));
    }

    @Test
    void dataIsRefused() {
        InferenceModel model = network();
        assertTrue(refusal(model, List.of()).startsWith("There is no calibration data"));
        assertTrue(refusal(model, List.of(Map.of("y", normal(1, 2)))).startsWith(
                "Batch 1 has no value for the feed 'x'"));
        assertTrue(String.valueOf(assertThrows(ProgramFailedException.class,
                () -> PostTrainingQuantization.of(model).quantize(batches(1, 2, 4, 8, 8))).getMessage())
                .contains("Input's channels (4)"));
        assertTrue(refusal(model, List.of(Map.of("x", Tensor.of(new float[3 * 64], 1, 3, 8, 8)))).contains(
                "was 0 in all calibration data"));
        Tensor infinite = Tensor.of(new float[]{1, Float.POSITIVE_INFINITY}, 1, 2);
        variable("i", -1, 2);
        parameter("wi", normal(1, 2, 2));
        step("matmul_v2", "o", Map.of("X", "i", "Y", "wi"), "Out");
        assertTrue(refusal(new InferenceModel(program, List.of("x", "i"), List.of("e", "o"), parameters),
                List.of(Map.of("x", normal(1, 1, 3, 8, 8), "i", Tensor.of(new float[]{1, 2}, 1, 2)),
                        Map.of("x", normal(1, 1, 3, 8, 8), "i", infinite)))
                .startsWith("The activation 'i' holds Infinity in batch 2"));
    }

    @Test
    void labelsGiveTheAccuracy() {
        variable("x", -1, 4);
        parameter("w", normal(1, 4, 3));
        step("matmul_v2", "y", Map.of("X", "x", "Y", "w"), "Out");
        InferenceModel model = model("y");
        Tensor x = normal(5, 40, 4);
        double[] scores = run(model, x);
        long[] classes = new long[40];
        for (int i = 0; i < 40; i++) {
            for (int j = 1; j < 3; j++) {
                classes[i] = scores[3 * i + j] > scores[3 * i + (int) classes[i]] ? j : classes[i];
            }
        }
        classes[3] = 7;
        List<Map<String, Tensor>> batches = List.of(Map.of("x", x, "label", Tensor.of(classes, 40)));
        try (QuantizedModel quantized = PostTrainingQuantization.of(model).quantize(batches)) {
            ModelComparison.Difference difference = ModelComparison.of(model, quantized.model(), batches, "label", 1)
                    .getFirst();
            assertEquals(40, difference.labelled());
            assertEquals(39, difference.correctBefore());
            assertTrue(difference.agreeing() >= 36 && difference.correctAfter() >= 35, difference::toString);
        }
    }
}

package io.seriatim.onnx.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.onnx.proto.ModelReader;
import io.seriatim.onnx.proto.OnnxNode;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Quantized models as ONNX: levels of 8 bits become its operators, other ones are computed. */
final class WrittenQuantizationTest {
    private static final long SEED = 20261126;
    private static final int CHANNELS = 5;

    @TempDir
    Path folder = Path.of("");

    private final Program program = new Program();
    private final Block block = program.global();
    private final Map<String, Tensor> parameters = new LinkedHashMap<>();
    private final SplittableRandom random = new SplittableRandom(SEED);

    private void parameter(String name, Tensor value) {
        block.put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent());
        parameters.put(name, value);
    }

    private Tensor positive(DType dtype, int count) {
        return Tensor.of(dtype, random.doubles(count, 0.5, 2).toArray(), count);
    }

    private void step(String type, String x, String scale, String y, int axis, int bits, int round) {
        block.add(OpDesc.of(type).in("X", x).in("Scale", scale).in("ZeroPoint", "zero").out("Y", y)
                .attr("quant_axis", axis).attr("bit_length", bits).attr("round_type", round).attr("is_test", true)
                .attr("only_observer", false).build());
    }

    private static Map<String, Tensor> run(InferenceModel model, Map<String, Tensor> feeds) {
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        model.parameters().forEach(interpreter::set);
        return interpreter.run(model.program(), feeds, model.fetches());
    }

    private List<String> types(Path file) throws IOException {
        return ModelReader.read(file.toString(), MemorySegment.ofArray(Files.readAllBytes(file))).graph().nodes()
                .stream().map(OnnxNode::type).toList();
    }

    /** The type of the operand, the axis of the scales, bits, rounding; whether ONNX's operators are written. */
    @ParameterizedTest
    @CsvSource({"FLOAT32, -1, 8, 0, true", "FLOAT32, 0, 8, 0, true", "FLOAT32, 1, 8, 0, true",
            "FLOAT32, -1, 8, 1, false", "FLOAT32, 1, 8, 1, false", "FLOAT32, -1, 4, 0, false",
            "FLOAT32, 1, 6, 1, false", "FLOAT32, 0, 16, 0, false", "FLOAT64, -1, 8, 0, false",
            "FLOAT64, 1, 8, 1, false"})
    void writtenLevelsAreTheSame(DType dtype, int axis, int bits, int round, boolean own) throws IOException {
        int rows = axis == 0 ? CHANNELS : 7;
        block.put(VarDesc.of("x", VarType.dense(dtype, rows, CHANNELS)));
        for (String name : List.of("levels", "y")) {
            block.put(VarDesc.of(name, VarType.dense(dtype, rows, CHANNELS)));
        }
        parameter("scale", positive(dtype, axis < 0 ? 1 : CHANNELS));
        parameter("zero", Tensor.of(DType.INT32, new long[axis < 0 ? 1 : CHANNELS], axis < 0 ? 1 : CHANNELS));
        step("quantize_linear", "x", "scale", "levels", axis, bits, round);
        step("dequantize_linear", "levels", "scale", "y", axis, bits, round);
        Path file = folder.resolve("model.onnx");
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(dtype,
                random.doubles((long) rows * CHANNELS, -3, 3).toArray(), rows, CHANNELS));
        InferenceModel model = new InferenceModel(program, List.of("x"), List.of("levels", "y"), parameters);
        InferenceModels.requireWritable(file, model);
        InferenceModels.save(file, model);
        assertEquals(own, types(file).contains("QuantizeLinear"), () -> "nodes");
        Map<String, Tensor> expected = run(model, feeds);
        try (InferenceModel read = InferenceModels.load(file)) {
            assertEquals(List.of("levels", "y"), read.fetches());
            assertAlike(expected, run(read, feeds));
        }
        model.close();
    }

    private static void assertAlike(Map<String, Tensor> expected, Map<String, Tensor> found) {
        found.forEach((name, value) -> {
            Tensor want = Objects.requireNonNull(expected.get(name));
            assertEquals(want.spec(), value.spec(), name);
            double[] wanted = want.toDoubleArray();
            double[] got = value.toDoubleArray();
            for (int i = 0; i < wanted.length; i++) {
                assertEquals(wanted[i], got[i], 1e-6 * (1 + Math.abs(wanted[i])), name + " at " + i);
            }
        });
    }

    /** Operations whose scale is the largest magnitude of what they get, or of a window of batches before. */
    @ParameterizedTest
    @CsvSource({"fake_quantize_abs_max, FLOAT32, 0, 8, 0, true", "fake_quantize_abs_max, FLOAT64, 0, 8, 1, false",
            "fake_quantize_dequantize_abs_max, FLOAT32, 0, 8, 0, true",
            "fake_quantize_dequantize_abs_max, FLOAT32, 0, 4, 1, false",
            "fake_channel_wise_quantize_abs_max, FLOAT32, 0, 8, 0, true",
            "fake_channel_wise_quantize_abs_max, FLOAT32, 1, 8, 1, false",
            "fake_channel_wise_quantize_dequantize_abs_max, FLOAT32, 1, 8, 0, true",
            "fake_channel_wise_quantize_dequantize_abs_max, FLOAT64, 0, 8, 0, false",
            "fake_channel_wise_quantize_dequantize_abs_max, FLOAT32, 1, 6, 1, false",
            "fake_quantize_range_abs_max, FLOAT32, 0, 8, 0, true",
            "fake_quantize_range_abs_max, FLOAT32, 0, 8, 1, false"})
    void computedScalesAreTheSame(String type, DType dtype, int axis, int bits, int round, boolean own)
            throws IOException {
        boolean ofWindow = type.contains("range");
        block.put(VarDesc.of("x", VarType.dense(dtype, 4, 5))).put(VarDesc.of("y", VarType.dense(dtype, 4, 5)));
        OpDesc.Builder op = OpDesc.of(type).in("X", "x").out("Out", "y").attr("bit_length", bits)
                .attr("round_type", round).attr("is_test", ofWindow);
        List<String> fetches = ofWindow ? List.of("y") : List.of("y", "s");
        if (ofWindow) {
            parameter("scale", positive(dtype, 1));
            op.in("InScale", "scale").out("OutScale", "scale");
        } else {
            block.put(VarDesc.of("s", VarType.dense(dtype, type.contains("channel") ? axis == 0 ? 4 : 5 : 1)));
            op.out("OutScale", "s");
        }
        block.add(type.contains("channel") ? op.attr("quant_axis", axis).build() : op.build());
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(dtype, random.doubles(20, -3, 3).toArray(), 4, 5));
        InferenceModel model = new InferenceModel(program, List.of("x"), fetches, parameters);
        Path file = folder.resolve("model.onnx");
        InferenceModels.save(file, model);
        assertEquals(own, types(file).contains("QuantizeLinear"));
        assertEquals(own && type.contains("dequantize"), types(file).contains("DequantizeLinear"));
        Map<String, Tensor> expected = run(model, feeds);
        try (InferenceModel read = InferenceModels.load(file)) {
            assertEquals(fetches, read.fetches());
            assertAlike(expected, run(read, feeds));
        }
        model.close();
    }

    /** What only observes passes its operand on; while it trains, it is refused by name, as are others. */
    @ParameterizedTest
    @CsvSource({"moving_average_abs_max_scale, true", "moving_average_abs_max_scale, false",
            "fake_quantize_range_abs_max, false", "fake_channel_wise_quantize_abs_max, true"})
    void formsForTrainingAreRefused(String type, boolean tested) throws IOException {
        boolean ofChannels = type.contains("channel");
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 4, 5)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, 4, 5)));
        parameter("scale", positive(DType.FLOAT32, ofChannels ? 4 : 1));
        parameter("window", positive(DType.FLOAT32, 10));
        parameter("iter", Tensor.of(new long[]{1}, 1));
        OpDesc.Builder op = OpDesc.of(type).in("X", "x").out("Out", "y").out("OutScale", "scale")
                .attr("is_test", tested);
        if (type.contains("range")) {
            op.in("InScale", "scale").in("Iter", "iter").out("OutScales", "window").attr("window_size", 10);
        } else if (!ofChannels) {
            op.in("InAccum", "scale").in("InState", "scale").out("OutAccum", "scale").out("OutState", "scale");
        }
        block.add(op.build());
        InferenceModel model = new InferenceModel(program, List.of("x"), List.of("y"), parameters);
        Path file = folder.resolve("model.onnx");
        if (tested && !ofChannels) {
            InferenceModels.save(file, model);
            assertEquals(List.of("Identity"), types(file));
        } else {
            String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> InferenceModels.save(file, model)).getMessage());
            assertTrue(message.contains("'" + type + "'"), message);
        }
        model.close();
    }

    /** Operations that keep a moving average of the scale, after training. */
    @ParameterizedTest
    @CsvSource({"true, FLOAT32, 8, 0, true", "false, FLOAT32, 8, 0, true", "true, FLOAT32, 8, 1, false",
            "false, FLOAT32, 4, 0, false", "true, FLOAT64, 8, 0, false"})
    void averagedScalesAreThoseOfTraining(boolean back, DType dtype, int bits, int round, boolean own)
            throws IOException {
        block.put(VarDesc.of("x", VarType.dense(dtype, 4, 5))).put(VarDesc.of("y", VarType.dense(dtype, 4, 5)));
        parameter("scale", positive(dtype, 1));
        String type = back
                ? "fake_quantize_dequantize_moving_average_abs_max"
                : "fake_quantize_moving_average_abs_max";
        block.add(OpDesc.of(type).in("X", "x").in("InScale", "scale").out("Out", "y").out("OutScale", "scale")
                .attr("bit_length", bits).attr("round_type", round).attr("is_test", true).build());
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(dtype, random.doubles(20, -3, 3).toArray(), 4, 5));
        InferenceModel model = new InferenceModel(program, List.of("x"), List.of("y"), parameters);
        Path file = folder.resolve("model.onnx");
        InferenceModels.save(file, model);
        assertEquals(own, types(file).contains("QuantizeLinear"));
        assertEquals(own && back, types(file).contains("DequantizeLinear"));
        Tensor want = Objects.requireNonNull(run(model, feeds).get("y"));
        try (InferenceModel read = InferenceModels.load(file)) {
            Tensor have = Objects.requireNonNull(run(read, feeds).get("y"));
            assertEquals(want.spec(), have.spec());
            double[] wanted = want.toDoubleArray();
            double[] got = have.toDoubleArray();
            for (int i = 0; i < wanted.length; i++) {
                assertEquals(wanted[i], got[i], 1e-6 * (1 + Math.abs(wanted[i])));
            }
        }
        block.set(0, block.ops().getFirst().with("is_test", false));
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> InferenceModels.save(file, model));
        assertTrue(String.valueOf(e.getMessage()).contains(type), e.getMessage());
    }

    /** Int8 weights stay bytes, and what only other formats need is left out. */
    @Test
    void levelsOfWeightsAreBytes() throws IOException {
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 1000)));
        for (String name : List.of("levels", "numbers")) {
            block.put(VarDesc.of(name, VarType.dense(DType.FLOAT32, -1, 1000)));
        }
        block.put(VarDesc.of("weights", VarType.dense(DType.FLOAT32, 1000, CHANNELS)));
        block.put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, CHANNELS)));
        long[] levels = random.longs(1000L * CHANNELS, -127, 128).toArray();
        parameter("w", Tensor.of(DType.INT8, levels, 1000, CHANNELS));
        parameter("w scales", positive(DType.FLOAT32, CHANNELS));
        parameter("scale", positive(DType.FLOAT32, 1));
        parameter("zero", Tensor.of(DType.INT32, new long[1], 1));
        step("quantize_linear", "x", "scale", "levels", -1, 8, 0);
        step("dequantize_linear", "levels", "scale", "numbers", -1, 8, 0);
        step("dequantize_linear", "w", "w scales", "weights", 1, 8, 0);
        block.add(OpDesc.of("matmul_v2").in("X", "numbers").in("Y", "weights").out("Out", "y").build());
        Path file = folder.resolve("model.onnx");
        InferenceModel model = new InferenceModel(program, List.of("x"), List.of("y"), parameters);
        InferenceModels.save(file, model);
        assertEquals(List.of("QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "MatMul"), types(file));
        Map<String, Tensor> feeds =
                Map.of("x", Tensor.of(DType.FLOAT32, random.doubles(3000, -2, 2).toArray(), 3, 1000));
        float[] expected = Objects.requireNonNull(run(model, feeds).get("y")).toFloatArray();
        try (InferenceModel read = InferenceModels.load(file)) {
            assertEquals(DType.INT8, Objects.requireNonNull(read.parameters().get("w")).dtype());
            float[] found = Objects.requireNonNull(run(read, feeds).get("y")).toFloatArray();
            for (int i = 0; i < expected.length; i++) {
                assertEquals(expected[i], found[i], 1e-5 * Math.abs(expected[i]) + 1e-2, "element " + i);
            }
        }
        model.close();
    }

    @Test
    void formsForTrainingAreRefused() {
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 2, 2)));
        block.put(VarDesc.of("y", VarType.dense(DType.FLOAT32, 2, 2)));
        parameter("scale", positive(DType.FLOAT32, 1));
        parameter("zero", Tensor.of(DType.INT32, new long[1], 1));
        block.add(OpDesc.of("quantize_linear").in("X", "x").in("Scale", "scale").in("ZeroPoint", "zero").out("Y", "y")
                .attr("quant_axis", -1).attr("is_test", false).build());
        try (InferenceModel model = new InferenceModel(program, List.of("x"), List.of("y"), parameters)) {
            String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> InferenceModels.requireWritable(folder.resolve("model.onnx"), model)).getMessage());
            assertTrue(message.contains("quantize_linear") && message.contains("training"), message);
        }
    }
}

package io.seriatim.graph.ops.quantization;

import static io.seriatim.graph.ops.SmallProgram.refused;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Attributes and sizes that quantisation cannot use are refused with an error that names them. */
class HostileQuantizationTest {
    private static final List<String> FAKE = List.of("fake_quantize_abs_max", "fake_quantize_dequantize_abs_max",
            "fake_channel_wise_quantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max");
    private static final List<String> CHANNELS = FAKE.subList(2, 4);
    private static final List<String> AVERAGES = List.of("fake_quantize_moving_average_abs_max",
            "fake_quantize_dequantize_moving_average_abs_max");

    private static OneOperation fake(String type, DType dtype, long... dims) {
        return new OneOperation(type).in("X", dtype, dims).out("Out", "OutScale");
    }

    private static OneOperation linear(String type, DType dtype, long... dims) {
        return new OneOperation(type).in("X", dtype, dims).in("ZeroPoint", DType.FLOAT32, 1).out("Y");
    }

    private static OneOperation averaged(String type) {
        return fake(type, DType.FLOAT32, 2, 3).in("InScale", DType.FLOAT32, 1).out("OutState", "OutAccum");
    }

    private static OneOperation window() {
        return fake("fake_quantize_range_abs_max", DType.FLOAT32, 2, 3).in("InScale", DType.FLOAT32, 1);
    }

    private static OneOperation dequantized(long... scales) {
        return new OneOperation("fake_channel_wise_dequantize_max_abs").in("X", DType.FLOAT32, 2, 3)
                .in("Scales", DType.FLOAT32, scales).out("Out");
    }

    static Stream<Arguments> refusals() {
        Stream<Arguments> fakes = FAKE.stream().flatMap(type -> Stream.of(
                Arguments.of(fake(type, DType.FLOAT32, 2, 3).attr("bit_length", 0), "bit_length"),
                Arguments.of(fake(type, DType.FLOAT32, 2, 3).attr("bit_length", 17), "17"),
                Arguments.of(fake(type, DType.FLOAT32, 2, 3).attr("bit_length", Integer.MIN_VALUE), "bit_length"),
                Arguments.of(fake(type, DType.FLOAT32, 2, 3).attr("round_type", 2), "round_type"),
                Arguments.of(fake(type, DType.INT64, 2, 3), "int64")));
        Stream<Arguments> channels = CHANNELS.stream().flatMap(type -> Stream.of(
                Arguments.of(fake(type, DType.FLOAT32, 2, 3).attr("quant_axis", 2), "quant_axis"),
                Arguments.of(fake(type, DType.FLOAT32, 2, 3).attr("quant_axis", -1), "quant_axis"),
                Arguments.of(fake(type, DType.FLOAT32), "quant_axis"),
                Arguments.of(fake(type, DType.FLOAT32, 2).attr("quant_axis", 1), "1 dimensions")));
        Stream<Arguments> averages = AVERAGES.stream().flatMap(type -> Stream.of(
                Arguments.of(averaged(type), "InAccum"),
                Arguments.of(averaged(type).in("InAccum", DType.FLOAT32, 1), "InState"),
                Arguments.of(averaged(type).in("InAccum", DType.FLOAT32, 2).in("InState", DType.FLOAT32, 1),
                        "InAccum"),
                Arguments.of(fake(type, DType.FLOAT32, 2).in("InScale", DType.INT64, 1), "InScale")));
        Stream<Arguments> windows = Stream.of(Arguments.of(window().attr("window_size", 0), "window_size"),
                Arguments.of(window().attr("window_size", Integer.MAX_VALUE), "window_size"),
                Arguments.of(window(), "Iter"),
                Arguments.of(window().in("Iter", DType.INT64, 1), "OutScales"),
                Arguments.of(window().in("Iter", DType.INT64, 2).out("OutScales"), "Iter"));
        Stream<Arguments> linears = Stream.of("quantize_linear", "dequantize_linear").flatMap(type -> Stream.of(
                Arguments.of(linear(type, DType.FLOAT32, 2, 3).in("Scale", DType.FLOAT32, 3), "Scale"),
                Arguments.of(linear(type, DType.FLOAT32, 2, 3).in("Scale", DType.FLOAT32, 2).attr("quant_axis", -1),
                        "Scale"),
                Arguments.of(linear(type, DType.FLOAT32, 2, 3).in("Scale", DType.INT64, 2), "int64"),
                Arguments.of(linear(type, DType.FLOAT32, 2, 3).in("Scale", DType.FLOAT32, 2).attr("quant_axis", -2),
                        "quant_axis"),
                Arguments.of(linear(type, DType.FLOAT32, 2, 3).in("Scale", DType.FLOAT32, 2).attr("bit_length", 99),
                        "99"),
                Arguments.of(linear(type, DType.INT64, 2, 3).in("Scale", DType.FLOAT32, 2), "int64")));
        Stream<Arguments> backs = Stream.of(Arguments.of(dequantized(3), "Scales"),
                Arguments.of(dequantized(2).attr("quant_bits", new int[0]), "quant_bits"),
                Arguments.of(dequantized(2).attr("quant_bits", new int[]{0}), "quant_bits"),
                Arguments.of(dequantized(2).attr("quant_axis", 7), "quant_axis"),
                Arguments.of(new OneOperation("fake_dequantize_max_abs").in("X", DType.FLOAT32, 2)
                        .in("Scale", DType.FLOAT32, 2).attr("max_range", 127f).out("Out"), "Scale"),
                Arguments.of(new OneOperation("dequantize_abs_max").in("X", DType.INT32, 2)
                        .in("Scale", DType.FLOAT32, 1).attr("max_range", 127f).out("Out"), "int32"),
                Arguments.of(new OneOperation("dequantize_log").in("X", DType.INT8, 2).in("Dict", DType.FLOAT32, 127)
                        .out("Out"), "127"));
        return Stream.of(fakes, channels, averages, windows, linears, backs).flatMap(each -> each);
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void areRefused(OneOperation operation, String part) {
        operation.isRefused(part);
    }

    @Test
    void aNegativeStepHasNoPlaceInTheWindow() {
        OpDesc op = OpDesc.of("fake_quantize_range_abs_max").in("X", "x").in("InScale", "s").in("Iter", "i")
                .out("Out", "y").out("OutScale", "t").out("OutScales", "w").attr("window_size", 2).build();
        Tensor number = Tensor.of(new float[]{1}, 1);
        refused(op, Map.of("x", number, "s", number, "i", Tensor.of(new long[]{-1}, 1), "w",
                Tensor.of(new float[]{0, 0}, 2)), "fake_quantize_range_abs_max", "-1");
        refused(op, Map.of("x", number, "s", number, "i", Tensor.of(new long[]{0}, 1)), "'w' has no value");
        refused(op, Map.of("x", number, "s", number, "i", Tensor.of(new long[]{0}, 1), "w", number), "OutScales");
    }
}

package io.seriatim.onnx.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** ONNX's operations whose meaning PaddlePaddle has, and the refusal of those whose meaning it has not. */
class WrittenAsPaddleTest {
    @TempDir
    private Path folder = Path.of("");

    private static InferenceModel model(DType dtype, long[] dims, Map<String, Tensor> parameters, OpDesc.Builder op,
            OpDesc.Builder... before) {
        Program program = new Program();
        long[] declared = dims.clone();
        declared[0] = -1;
        program.global().put(VarDesc.of("x", VarType.dense(dtype, declared)));
        parameters.forEach((name, value) -> program.global()
                .put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent()));
        for (OpDesc.Builder each : before) {
            Appender.append(program.global(), each.build(), Roles.FORWARD);
        }
        Appender.append(program.global(), op.in("X", "x").out("Out", "out").build(), Roles.FORWARD);
        return new InferenceModel(program, List.of("x"), List.of("out"), parameters);
    }

    private static Tensor run(InferenceModel model, Tensor x) {
        Map<String, Tensor> given = new LinkedHashMap<>(model.parameters());
        given.put("x", x);
        return Objects.requireNonNull(Interpreter.of(Kernels.portable())
                .run(model.program(), given, model.fetches()).get(model.fetches().getFirst()));
    }

    private void keeps(InferenceModel model, Tensor x) throws IOException {
        Tensor want = run(model, x);
        for (String format : List.of("pdmodel", "json")) {
            Path file = folder.resolve("x." + format);
            InferenceModels.save(file, model);
            try (InferenceModel again = InferenceModels.load(file)) {
                assertTrue(again.program().global().ops().stream().noneMatch(op -> op.type().startsWith("onnx_")));
                Tensor have = run(again, x);
                assertEquals(want.spec(), have.spec(), format);
                if (want.dtype().isFloating()) {
                    assertArrayEquals(want.toDoubleArray(), have.toDoubleArray(), 1e-5, format);
                } else {
                    assertArrayEquals(want.toLongArray(), have.toLongArray(), format);
                }
            }
        }
    }

    private static Tensor values(DType dtype, long... dims) {
        double[] values = new double[Math.toIntExact(Arrays.stream(dims).reduce(1, Math::multiplyExact))];
        Arrays.setAll(values, i -> dtype.isFloating() ? Math.abs(Math.sin(i + 1.0)) + 0.1 : i % 5 - 1);
        return Tensor.of(dtype, values, dims);
    }

    @ParameterizedTest
    @CsvSource({"sum,INT64,1,true", "max,INT64,-1,false", "min,INT32,0,true", "prod,INT64,1,false", "l1,FLOAT32,1,true",
            "sum_square,FLOAT32,2,false", "mean,FLOAT32,1,true", "l2,FLOAT32,-1,false", "log_sum,FLOAT32,1,true",
            "sum,FLOAT32,,false", "max,INT64,,true"})
    void reducesAlongKnownAxes(String function, DType dtype, Integer axis, boolean keep) throws IOException {
        OpDesc.Builder op = OpDesc.of("onnx_reduce").attr("function", function).attr("keepdims", keep);
        Map<String, Tensor> parameters = axis == null ? Map.of() : Map.of("axes", Tensor.of(new long[]{axis}, 1));
        if (axis != null) {
            op.in("Axes", "axes");
            InferenceModel constant = model(dtype, new long[]{2, 3, 4}, Map.of(),
                    OpDesc.of("onnx_reduce").attr("function", function).attr("keepdims", keep).in("Axes", "c"),
                    OpDesc.of("fill_constant").out("Out", "c").attr("shape", new long[]{1}).attr("dtype", 3)
                            .attr("value", (float) axis).attr("str_value", String.valueOf(axis)));
            keeps(constant, values(dtype, 2, 3, 4));
        }
        keeps(model(dtype, new long[]{2, 3, 4}, parameters, op), values(dtype, 2, 3, 4));
    }

    private static OpDesc.Builder pool(String kind, boolean ceil, int kernel, int stride, int begin, int end,
            int axes) {
        int[] paddings = new int[2 * axes];
        for (int i = 0; i < axes; i++) {
            paddings[2 * i] = begin;
            paddings[2 * i + 1] = end;
        }
        int[] sizes = new int[axes];
        Arrays.fill(sizes, kernel);
        int[] strides = new int[axes];
        Arrays.fill(strides, stride);
        int[] dilations = new int[axes];
        Arrays.fill(dilations, 1);
        return OpDesc.of("onnx_pool").attr("kind", kind).attr("ksize", sizes).attr("strides", strides)
                .attr("dilations", dilations).attr("paddings", paddings).attr("ceil_mode", ceil);
    }

    /** Windows at the end that begin in the padding are none; those that only end there are one more. */
    @ParameterizedTest
    @CsvSource({"max,true,3,2,1,1,2", "max,true,2,2,0,1,2", "max,true,2,3,1,1,3", "max,false,3,2,0,2,1",
            "avg,true,3,2,1,1,2", "avg,true,2,3,1,1,1", "avg,false,3,1,1,0,3", "avg_padded,false,3,2,1,0,2",
            "avg_padded,false,3,2,1,1,1", "avg_padded,true,2,3,1,1,2"})
    void poolsImagesOfKnownSizes(String kind, boolean ceil, int kernel, int stride, int begin, int end, int axes)
            throws IOException {
        for (int length = 4; length < 8; length++) {
            long[] dims = new long[2 + axes];
            Arrays.fill(dims, length);
            dims[0] = 2;
            InferenceModel model = model(DType.FLOAT32, dims, Map.of(), pool(kind, ceil, kernel, stride, begin, end,
                    axes));
            keeps(model, values(DType.FLOAT32, dims));
        }
    }

    @Test
    void poolsBytes() throws IOException {
        keeps(model(DType.INT8, new long[]{2, 3, 5, 5}, Map.of(), pool("max", false, 2, 2, 0, 0, 2)),
                values(DType.INT8, 2, 3, 5, 5));
    }

    /** Of open lengths, only a run knows the last window; some means count what lies beyond the padding. */
    @ParameterizedTest
    @CsvSource({"max,true,3,2,1,1,-1", "avg_padded,true,3,2,0,0,6", "lp,false,2,2,0,0,6", "max,true,3,2,3,1,6"})
    void refusesOtherPooling(String kind, boolean ceil, int kernel, int stride, int begin, int end, int length) {
        InferenceModel model = model(DType.FLOAT32, new long[]{2, 3, length, length}, Map.of(),
                pool(kind, ceil, kernel, stride, begin, end, 2));
        for (String format : List.of("pdmodel", "json")) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    () -> InferenceModels.save(folder.resolve("x." + format), model));
            assertTrue(String.valueOf(e.getMessage()).contains("'onnx_pool'"), e.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource({"nearest,asymmetric,floor,1.5", "nearest,half_pixel,round_prefer_floor,2",
            "linear,half_pixel,floor,1.5",
            "linear,align_corners,floor,2", "linear,asymmetric,floor,0.5", "linear,half_pixel,floor,0.5",
            "cubic,half_pixel,floor,2",
            "cubic,align_corners,floor,1.5"})
    void resizesImages(String mode, String coordinates, String nearest, float scale) throws IOException {
        for (boolean sized : new boolean[]{false, true}) {
            boolean repeats = coordinates.equals("half_pixel") && mode.equals("nearest");
            if (sized && repeats) {
                continue;
            }
            long length = (long) (scale * 4);
            Map<String, Tensor> parameters = sized
                    ? Map.of("sizes", Tensor.of(new long[]{length, length}, 2))
                    : Map.of("scales", Tensor.of(new float[]{1, 1, scale, scale}, 4));
            OpDesc.Builder op = OpDesc.of("onnx_resize").attr("mode", mode).attr("coordinates", coordinates)
                    .attr("nearest", nearest).attr("axes", sized ? new int[]{2, 3} : new int[]{0, 1, 2, 3});
            op.in(sized ? "Sizes" : "Scales", sized ? "sizes" : "scales");
            keeps(model(DType.FLOAT32, new long[]{1, 2, 4, 4}, parameters, op), values(DType.FLOAT32, 1, 2, 4, 4));
        }
    }

    /** PaddlePaddle takes other places, or none. */
    @ParameterizedTest
    @CsvSource({"nearest,half_pixel,round_prefer_floor,1.5,false", "nearest,asymmetric,ceil,2,false",
            "linear,pytorch_half_pixel,floor,2,false", "linear,half_pixel,floor,0.3,false",
            "linear,align_corners,floor,0.6,false", "linear,half_pixel,floor,0.5,true"})
    void refusesWhatHasOtherPlaces(String mode, String coordinates, String nearest, float scale, boolean antialias) {
        InferenceModel model = model(DType.FLOAT32, new long[]{1, 2, 4, 4},
                Map.of("scales", Tensor.of(new float[]{1, 1, scale, scale}, 4)),
                OpDesc.of("onnx_resize").in("Scales", "scales").attr("mode", mode).attr("coordinates", coordinates)
                        .attr("nearest", nearest).attr("antialias", antialias).attr("axes", new int[]{0, 1, 2, 3}));
        for (String format : List.of("pdmodel", "json")) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    () -> InferenceModels.save(folder.resolve("x." + format), model));
            assertTrue(String.valueOf(e.getMessage()).contains("onnx_resize"), e.getMessage());
        }
    }

    /** The value of a parameter that is fed is known to nobody. */
    @Test
    void axesThatAreFedAreNotFolded() {
        InferenceModel known = model(DType.FLOAT32, new long[]{2, 3}, Map.of("axes", Tensor.of(new long[]{1}, 1)),
                OpDesc.of("onnx_reduce").in("Axes", "axes").attr("function", "sum"));
        InferenceModel fed = new InferenceModel(known.program(), List.of("x", "axes"), List.of("out"),
                known.parameters());
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> InferenceModels.save(folder.resolve("x.pdmodel"), fed));
        assertTrue(String.valueOf(e.getMessage()).contains("onnx_reduce"), e.getMessage());
    }

    /** PaddlePaddle has its own order of gates, and no layer that only goes backwards; ONNX's are kept. */
    @ParameterizedTest
    @CsvSource({"LSTM,4,1,false,false", "GRU,3,1,false,true", "RNN_TANH,1,1,false,false", "LSTM,4,2,false,true",
            "LSTM,4,1,true,false", "LSTM,4,1,true,true", "GRU,3,1,true,true", "RNN_RELU,1,1,true,true",
            "RNN_TANH,1,1,true,false", "PEEPHOLE_LSTM,4,1,false,false", "PEEPHOLE_LSTM,4,2,false,true",
            "PEEPHOLE_LSTM,4,1,true,true", "RESET_GRU,3,1,false,true", "RESET_GRU,3,2,false,false",
            "RESET_GRU,3,1,true,false"})
    void recurrencesOfOnnx(String mode, long gates, int directions, boolean reverse, boolean lengths)
            throws IOException {
        Map<String, Tensor> parameters = new LinkedHashMap<>();
        for (int i = 0; i < 2 * directions; i++) {
            Tensor all = values(DType.FLOAT32, gates * 3 + i, i % 2 == 0 ? 2 : 3);
            parameters.put("w" + i, Tensor.of(Arrays.copyOf(all.toFloatArray(), (int) gates * 3 * (i % 2 == 0 ? 2 : 3)),
                    gates * 3, i % 2 == 0 ? 2 : 3));
        }
        for (int i = 0; i < 2 * directions; i++) {
            parameters.put("w" + (2 * directions + i), values(DType.FLOAT32, gates * 3));
        }
        for (int i = 0; mode.equals("PEEPHOLE_LSTM") && i < directions; i++) {
            parameters.put("p" + i, values(DType.FLOAT32, 9));
        }
        List<String> weights = List.copyOf(parameters.keySet());
        if (lengths) {
            parameters.put("lengths", Tensor.of(DType.INT32, new long[]{2, 5}, 2));
        }
        List<String> states = mode.endsWith("LSTM") ? List.of("h", "c") : List.of("h");
        states.forEach(state -> parameters.put(state, values(DType.FLOAT32, directions, 2, 3)));
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 5, 2, 2)));
        parameters.forEach((name, value) -> program.global()
                .put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent()));
        Appender.append(program.global(), OpDesc.of("rnn").in("Input", "x").in("PreState", states)
                .in("WeightList", weights).in("SequenceLength", lengths ? List.of("lengths") : List.of())
                .out("Out", "out").out("Reserve", "reserve")
                .out("State", states.stream().map(state -> state + "_last").toList())
                .attr("mode", mode).attr("is_bidirec", directions == 2).attr("input_size", 2).attr("hidden_size", 3)
                .attr("is_test", true).attr("gate_order", "onnx").attr("is_reverse", reverse).build(), Roles.FORWARD);
        Tensor x = values(DType.FLOAT32, 5, 2, 2);
        for (String result : List.of("out", states.getLast() + "_last")) {
            InferenceModel model = new InferenceModel(program, List.of("x"), List.of(result), parameters);
            keeps(model, x);
            Path file = folder.resolve("x.onnx");
            InferenceModels.save(file, model);
            try (InferenceModel again = InferenceModels.load(file)) {
                assertEquals(1, again.program().global().ops().stream().filter(op -> op.type().equals("rnn")).count());
                assertArrayEquals(run(model, x).toDoubleArray(), run(again, x).toDoubleArray(), 1e-5);
            }
        }
    }

    /** Halves to even numbers are PaddlePaddle 3's own, and are computed for PaddlePaddle 2. */
    @Test
    void roundsHalvesToEvenNumbers() throws IOException {
        double[] halves = {0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49, 7.51};
        InferenceModel model = model(DType.FLOAT32, new long[]{8}, Map.of(), OpDesc.of("onnx_round"));
        Path file = folder.resolve("x.pdmodel");
        InferenceModels.save(file, model);
        try (InferenceModel again = InferenceModels.load(file)) {
            Tensor x = Tensor.of(DType.FLOAT32, halves, 8);
            assertArrayEquals(new double[]{0, 2, 2, 0, -2, -2, 0, 8}, run(again, x).toDoubleArray(), 0);
        }
    }
}

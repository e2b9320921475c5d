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
import io.seriatim.onnx.proto.ModelReader;
import io.seriatim.onnx.proto.OnnxNode;
import io.seriatim.onnx.proto.OnnxType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms that ONNX does not have, or that ONNX Runtime refused: {@code tools/formats} runs them there. */
class WrittenFormsTest {
    @TempDir
    private Path folder = Path.of("");
    private final Program program = new Program();
    private final Map<String, Tensor> feeds = new LinkedHashMap<>();

    private void feed(String name, DType dtype, boolean open, long... dims) {
        double[] values = new double[Math.toIntExact(Arrays.stream(dims).reduce(1, Math::multiplyExact))];
        Arrays.setAll(values, i -> dtype.isFloating() ? Math.sin(i + 1.0) : i % 3);
        long[] declared = dims.clone();
        if (open) {
            Arrays.fill(declared, -1);
        }
        program.global().put(VarDesc.of(name, VarType.dense(dtype, declared)));
        feeds.put(name, Tensor.of(dtype, values, dims));
    }

    private static Tensor run(InferenceModel model, Map<String, Tensor> feeds) {
        Map<String, Tensor> given = new LinkedHashMap<>(model.parameters());
        given.putAll(feeds);
        return Objects.requireNonNull(Interpreter.of(Kernels.portable()).run(model.program(), given, List.of("out"))
                .get("out"));
    }

    /** Writes the operation, and compares what is read again. */
    private List<String> written(OpDesc.Builder op) throws IOException {
        Appender.append(program.global(), op.build(), Roles.FORWARD);
        InferenceModel model = new InferenceModel(program, new ArrayList<>(feeds.keySet()), List.of("out"), Map.of());
        Path file = folder.resolve("x.onnx");
        InferenceModels.save(file, model);
        try (InferenceModel again = InferenceModels.load(file)) {
            Tensor want = run(model, feeds);
            Tensor have = run(again, feeds);
            assertEquals(want.spec(), have.spec());
            if (want.dtype().isFloating()) {
                assertArrayEquals(want.toDoubleArray(), have.toDoubleArray(), 1e-5);
            } else {
                assertArrayEquals(want.toLongArray(), have.toLongArray());
            }
        }
        return ModelReader.read("x", MemorySegment.ofArray(Files.readAllBytes(file))).graph().nodes().stream()
                .map(OnnxNode::type).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"9007199254740993", "-9223372036854775807", "9223372036854775807", "3"})
    void wholeNumbersKeepTheirLastDigit(String text) throws IOException {
        written(OpDesc.of("fill_constant").out("Out", "out").attr("dtype", 3).attr("shape", new long[]{2})
                .attr("value", 1f).attr("str_value", text));
        try (InferenceModel again = InferenceModels.load(folder.resolve("x.onnx"))) {
            assertArrayEquals(new long[]{Long.parseLong(text), Long.parseLong(text)},
                    run(again, Map.of()).toLongArray());
        }
    }

    /** The type of a result follows from an attribute here, not from the operands. */
    @Test
    void refusesResultsOfOtherTypes() {
        feed("x", DType.FLOAT32, false, 2);
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> written(OpDesc.of("cast")
                .in("X", "x").out("Out", "out").attr("in_dtype", 5).attr("out_dtype", 23)));
        assertTrue(String.valueOf(e.getMessage()).contains("'cast'")
                && String.valueOf(e.getMessage()).contains("'Cast' to complex64"), e.getMessage());
        e = assertThrows(IllegalArgumentException.class, () -> new WrittenFormsTest().written(OpDesc
                .of("fill_constant").out("Out", "out").attr("dtype", 23).attr("shape", new long[]{2})
                .attr("value", 1f)));
        assertTrue(String.valueOf(e.getMessage()).contains("'ConstantOfShape' to complex64"), e.getMessage());
    }

    /** Of ends before the first element, Paddle leaves that element out, unlike ONNX. */
    @ParameterizedTest
    @CsvSource({"-1,-6,false,2", "-1,-6,true,2", "-1,-9,true,2", "-1,-1,true,3", "4,-3,false,1", "4,-3,true,1",
            "3,0,true,2"})
    void slicesBackwards(int start, int end, boolean open, int count) throws IOException {
        feed("x", DType.FLOAT32, open, 5, 2);
        written(OpDesc.of("strided_slice").in("Input", "x").out("Out", "out").attr("axes", new int[]{0})
                .attr("starts", new int[]{start}).attr("ends", new int[]{end}).attr("strides", new int[]{-2})
                .attr("infer_flags", new int[]{1}));
        try (InferenceModel again = InferenceModels.load(folder.resolve("x.onnx"))) {
            assertEquals(count, run(again, feeds).shape().dim(0));
        }
    }

    /** The mean of a region without samples is no number here and in PaddlePaddle, but 0 in ONNX Runtime. */
    @ParameterizedTest
    @CsvSource({"true,-1,true", "true,0,true", "true,2,false", "false,-1,false"})
    void meansOfNoSamplesAreNoNumbers(boolean aligned, int samples, boolean missing) throws IOException {
        feed("x", DType.FLOAT32, true, 1, 2, 5, 5);
        feed("regions", DType.FLOAT32, true, 4, 4);
        feeds.put("regions", Tensor.of(DType.FLOAT32, new double[]{0, 0, 3, 3, 1, 1, 1, 2, 2, 4, 3, 4, 1, 1, 2, 2}, 4,
                4));
        program.global().put(VarDesc.of("counts", VarType.dense(DType.INT32, 1)));
        feeds.put("counts", Tensor.of(DType.INT32, new double[]{4}, 1));
        List<String> nodes = written(OpDesc.of("roi_align").in("X", "x").in("ROIs", "regions").in("RoisNum", "counts")
                .out("Out", "out").attr("pooled_height", 2).attr("pooled_width", 2).attr("sampling_ratio", samples)
                .attr("aligned", aligned));
        assertEquals(missing, nodes.contains("Where"));
        try (InferenceModel again = InferenceModels.load(folder.resolve("x.onnx"))) {
            double[] means = run(again, feeds).toDoubleArray();
            for (int i = 0; i < means.length; i++) {
                int region = i / 8;
                assertEquals(missing && (region == 1 || region == 2), Double.isNaN(means[i]), Arrays.toString(means));
            }
        }
    }

    /** ONNX Runtime 1.32 takes two Reshape in a row for one. */
    @Test
    void sizesThatAreAVectorAreNotReshaped() throws IOException {
        feed("x", DType.FLOAT32, false, 2, 3);
        program.global().put(VarDesc.of("shape", VarType.dense(DType.INT32, 2)));
        feeds.put("shape", Tensor.of(DType.INT32, new double[]{3, 2}, 2));
        assertEquals(1, written(OpDesc.of("reshape2").in("X", "x").in("Shape", "shape").out("Out", "out")
                .out("XShape", "s").attr("shape", new int[]{-1, 2})).stream().filter("Reshape"::equals).count());
    }

    /** As both versions of PaddlePaddle do, also if the element itself does not count. */
    @Test
    void sumOfOneElementIsTheElement() throws IOException {
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, new long[0])));
        Appender.append(program.global(), OpDesc.of("cumsum").in("X", "x").out("Out", "out").attr("exclusive", true)
                .build(), Roles.FORWARD);
        Path file = folder.resolve("x.onnx");
        InferenceModels.save(file, new InferenceModel(program, List.of("x"), List.of("out"), Map.of()));
        assertEquals(List.of("Identity"), ModelReader.read("x", MemorySegment.ofArray(Files.readAllBytes(file)))
                .graph().nodes().stream().map(OnnxNode::type).toList());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void roundsHalvesAsTheOperationDoes(boolean even) throws IOException {
        double[] values =
                {0.5, 1.5, 2.5, -0.5, -2.5, 0.49999997f, -0.49999997f, 8388609, 3.2, Double.POSITIVE_INFINITY};
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, values.length)));
        feeds.put("x", Tensor.of(DType.FLOAT32, values, values.length));
        assertEquals(even, written(OpDesc.of("round").in("X", "x").out("Out", "out").attr("half_to_even", even))
                .contains("Round"));
    }

    /** Of two elements that are equally near, ONNX takes that with an even number. */
    @ParameterizedTest
    @CsvSource({"zeros,true", "border,true", "border,false", "zeros,false"})
    void takesTheOuterOfTheNearestElements(String padding, boolean corners) throws IOException {
        double[] grid = new double[16];
        for (int i = 0; i < 8; i++) {
            grid[2 * i] = corners ? (i - 1.5) / 2 - 1 : (i - 1) / 2.5 - 1;
        }
        feed("x", DType.FLOAT32, false, 1, 2, 1, 5);
        program.global().put(VarDesc.of("grid", VarType.dense(DType.FLOAT32, 1, 1, 8, 2)));
        feeds.put("grid", Tensor.of(DType.FLOAT32, grid, 1, 1, 8, 2));
        assertTrue(written(OpDesc.of("grid_sampler").in("X", "x").in("Grid", "grid").out("Output", "out")
                .attr("mode", "nearest").attr("padding_mode", padding).attr("align_corners", corners))
                .contains("GridSample"));
    }

    @ParameterizedTest
    @CsvSource({"1,false", "2,false", "1,true", "2,true"})
    void normalisesAxesOfOpenLength(int axis, boolean scaled) throws IOException {
        feed("x", DType.FLOAT32, true, 2, 3, 4);
        OpDesc.Builder op = OpDesc.of("layer_norm").in("X", "x").out("Y", "out").out("Mean", "m").out("Variance", "v")
                .attr("begin_norm_axis", axis);
        if (scaled) {
            feed("scale", DType.FLOAT32, true, axis == 1 ? 12 : 4);
            op.in("Scale", "scale");
        }
        assertTrue(written(op).contains("LayerNormalization"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"3;4;true;true", "3;3;false;false", "3;3 4;false;false", "2 3;3;false;false",
            "2 3 2 3;6 3 4;false;false", "2 3 2 3;6 4 3;false;true"})
    void productsOfVectorsAndUnlikeBatches(String x, String y, boolean left, boolean right) throws IOException {
        feed("x", DType.FLOAT32, false, longs(x));
        feed("y", DType.FLOAT32, false, longs(y));
        written(OpDesc.of("matmul").in("X", "x").in("Y", "y").out("Out", "out").attr("transpose_X", left)
                .attr("transpose_Y", right).attr("alpha", 0.5f));
    }

    private static long[] longs(String text) {
        return Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray();
    }

    @Test
    void aScalarIsOneHot() throws IOException {
        feed("x", DType.INT64, false);
        assertTrue(written(OpDesc.of("one_hot_v2").in("X", "x").out("Out", "out").attr("depth", 3))
                .containsAll(List.of("Unsqueeze", "OneHot", "Squeeze")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shufflesChannelsOfAnyNumber(boolean open) throws IOException {
        feed("x", DType.FLOAT32, open, 2, 6, 2, 3);
        written(OpDesc.of("shuffle_channel").in("X", "x").out("Out", "out").attr("group", 3));
    }

    @Test
    void dropsAxesThatOnlyARunKnows() throws IOException {
        feed("x", DType.FLOAT32, false, 1, 3, 1, 2);
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 3, -1, 2)));
        program.global().put(VarDesc.of("out", VarType.dense(DType.FLOAT32, 3, 2)));
        program.global().put(VarDesc.of("s", VarType.dense(DType.FLOAT32, 0, 1, 3, 1, 2)));
        program.global().add(OpDesc.of("squeeze2").in("X", "x").out("Out", "out").out("XShape", "s")
                .attr("axes", new int[0]).build());
        InferenceModel model = new InferenceModel(program, List.of("x"), List.of("out"), Map.of());
        InferenceModels.save(folder.resolve("x.onnx"), model);
        List<String> nodes = ModelReader.read("x", MemorySegment.ofArray(Files.readAllBytes(folder.resolve("x.onnx"))))
                .graph().nodes().stream().map(OnnxNode::type).toList();
        assertTrue(nodes.contains("Compress") && !nodes.contains("Squeeze"), nodes.toString());
    }

    @Test
    void slopesOfElementsOfOpenShape() throws IOException {
        feed("x", DType.FLOAT32, true, 2, 3, 4);
        feed("a", DType.FLOAT32, false, 1, 3, 4);
        written(OpDesc.of("prelu").in("X", "x").in("Alpha", "a").out("Out", "out").attr("mode", "element"));
    }

    /** ONNX Runtime does not resize them; the nearest elements are those of known places. */
    @ParameterizedTest
    @CsvSource({"FLOAT64,false,3 7,", "INT64,false,2 9,", "INT64,true,2 9,", "BOOL,true,5 1,", "INT64,false,,0.6",
            "FLOAT64,true,,1.2"})
    void picksNearestElementsOfTypesThatAreNotResized(DType dtype, boolean corners, @Nullable String size,
            @Nullable String scale) throws IOException {
        feed("x", dtype, false, 1, 2, 4, 5);
        OpDesc.Builder op = OpDesc.of("nearest_interp_v2").in("X", "x").out("Out", "out")
                .attr("interp_method", "nearest").attr("align_corners", corners);
        if (size != null) {
            op.attr("out_h", (int) longs(size)[0]).attr("out_w", (int) longs(size)[1]);
        } else if (scale != null) {
            op.attr("scale", new float[]{1.5f, Float.parseFloat(scale)});
        }
        List<String> nodes = written(op);
        assertTrue(nodes.contains("Gather") && !nodes.contains("Resize"), nodes.toString());
    }

    @ParameterizedTest
    @CsvSource({"bilinear,FLOAT64,false", "nearest,INT64,true", "bicubic,FLOAT64,true"})
    void namesTypesThatAreNotResized(String method, DType dtype, boolean open) {
        feed("x", dtype, open, 1, 2, 4, 5);
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> written(OpDesc.of(method + "_interp_v2").in("X", "x").out("Out", "out")
                        .attr("interp_method", method).attr("out_h", 3).attr("out_w", 3)));
        assertTrue(String.valueOf(e.getMessage()).contains("resizes elements of " + dtype.toString()), e.getMessage());
        assertTrue(String.valueOf(e.getMessage()).contains("cast them to float32 before it"), e.getMessage());
    }

    /** A program announces other lengths than the checker of ONNX finds. */
    @ParameterizedTest
    @CsvSource({"2 1,3 -1 2,3 2 2", "1 5,3 2 4 -1,3 2 4 5", "2 1,2 4,2 4"})
    void declaresWhatExpandGives(String dims, String shape, String expected) throws IOException {
        feed("x", DType.FLOAT32, false, longs(dims));
        Appender.append(program.global(), OpDesc.of("expand_v2").in("X", "x").out("Out", "wide")
                .attr("shape", Arrays.stream(longs(shape)).mapToInt(Math::toIntExact).toArray()).build(),
                Roles.FORWARD);
        written(OpDesc.of("relu").in("X", "wide").out("Out", "out"));
        OnnxType type = ModelReader.read("x", MemorySegment.ofArray(Files.readAllBytes(folder.resolve("x.onnx"))))
                .graph().outputs().getFirst().type();
        assertArrayEquals(longs(expected), type instanceof OnnxType.OfTensor(int _, List<OnnxType.Dim> declared)
                ? declared.stream().mapToLong(OnnxType.Dim::size).toArray()
                : new long[0]);
    }

    /** Paddle repeats elements that the other end loses; ONNX cuts first. */
    @ParameterizedTest
    @CsvSource({"reflect,2 -2,false", "reflect,-2 2,true", "replicate,3 -2,false", "replicate,-3 1,true",
            "constant,-3 2,false", "constant,2 -1,true", "reflect,1 2,false"})
    void cutsWhatIsPadded(String mode, String pads, boolean open) throws IOException {
        feed("x", DType.FLOAT32, open, 1, 1, 2, 3, 3);
        int[] paddings = new int[6];
        paddings[0] = Math.toIntExact(longs(pads)[0]);
        paddings[1] = Math.toIntExact(longs(pads)[1]);
        List<String> nodes = written(OpDesc.of("pad3d").in("X", "x").out("Out", "out").attr("mode", mode)
                .attr("paddings", paddings).attr("value", 7f));
        assertEquals(pads.contains("-"), nodes.contains("Slice"), nodes.toString());
    }

    /** Written as places of elements, which are read as a slice again. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void slicesThatAreSet(int step) throws IOException {
        feed("x", DType.FLOAT32, false, 3, 7, 4);
        feed("u", DType.FLOAT32, false, 3, 4 / step, 4);
        written(OpDesc.of("set_value").in("Input", "x").in("ValueTensor", "u").out("Out", "out")
                .attr("axes", new long[]{0, 1}).attr("starts", new long[]{0, 2}).attr("ends", new long[]{3, 6})
                .attr("steps", new long[]{1, step}).attr("dtype", 5));
    }

    @Test
    void axesOfOneElementThatAreSet() throws IOException {
        feed("x", DType.INT64, false, 3, 7);
        feed("u", DType.INT64, false, 4);
        written(OpDesc.of("set_value").in("Input", "x").in("ValueTensor", "u").out("Out", "out")
                .attr("axes", new long[]{0, 1}).attr("starts", new long[]{1, 3}).attr("ends", new long[]{2, 7})
                .attr("steps", new long[]{1, 1}).attr("decrease_axes", new long[]{0}).attr("dtype", 3));
    }
}

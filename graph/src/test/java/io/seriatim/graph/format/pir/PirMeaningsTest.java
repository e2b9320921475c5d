package io.seriatim.graph.format.pir;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Operations that mean something else in PaddlePaddle 3.3.1 than in 2.6.2, which {@code tools/formats/versions.py}
 * finds: files of PIR have the meaning of 3.3.1, whose results these are.
 */
class PirMeaningsTest {
    @TempDir
    private Path folder = Path.of("");
    private final Program program = new Program();
    private final Map<String, Tensor> feeds = new LinkedHashMap<>();

    private void feed(String name, Tensor value) {
        program.global().put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())));
        feeds.put(name, value);
    }

    private static Tensor doubles(double[] values, long... dims) {
        return Tensor.of(DType.FLOAT64, values, dims);
    }

    private Path save(OpDesc.Builder op) throws IOException {
        Appender.append(program.global(), op.build(), Roles.FORWARD);
        Path file = folder.resolve("model.json");
        InferenceModels.save(file, new InferenceModel(program, new ArrayList<>(feeds.keySet()), List.of("out"),
                Map.of()));
        return file;
    }

    private Tensor loaded(Path file) throws IOException {
        try (InferenceModel model = InferenceModels.load(file)) {
            return Objects.requireNonNull(Interpreter.of(Kernels.portable())
                    .run(model.program(), feeds, model.fetches()).get(model.fetches().getFirst()));
        }
    }

    private void replace(Path file, String from, String to) throws IOException {
        Files.writeString(file, Files.readString(file).replace("\"1." + from + "\"", "\"1." + to + "\""));
    }

    @Test
    void roundsHalvesToEvenNumbers() throws IOException {
        feed("x", doubles(new double[]{0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.3, -3.7}, 8));
        Path file = save(OpDesc.of("floor").in("X", "x").out("Out", "out"));
        replace(file, "floor", "round");
        double[] even = {0, 2, 2, -0.0, -2, -2, 3, -4};
        assertArrayEquals(even, loaded(file).toDoubleArray());
        for (String format : List.of("again.json", "again.pdmodel")) {
            Path again = folder.resolve(format);
            try (InferenceModel model = InferenceModels.load(file)) {
                InferenceModels.save(again, model);
            }
            assertArrayEquals(even, loaded(again).toDoubleArray(), 0, format);
        }
    }

    @Test
    void digammaIsInfiniteAtZero() throws IOException {
        feed("x", doubles(new double[]{0, -0.0, 1}, 3));
        Path file = save(OpDesc.of("floor").in("X", "x").out("Out", "out"));
        replace(file, "floor", "digamma");
        double[] expected = {Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, -0.5772156649015329};
        for (String format : List.of("again.json", "again.pdmodel")) {
            Path again = folder.resolve(format);
            try (InferenceModel model = InferenceModels.load(file)) {
                InferenceModels.save(again, model);
            }
            assertArrayEquals(expected, loaded(again).toDoubleArray(), 1e-14, format);
        }
    }

    @ParameterizedTest
    @CsvSource({"true,json,0", "true,pdmodel,0", "false,json,1", "false,pdmodel,1"})
    void infosOfOneMatrixKeepTheirShape(boolean scalar, String format, int rank) throws IOException {
        feed("x", doubles(new double[]{1, 2, 3, 4}, 2, 2));
        Appender.append(program.global(), OpDesc.of("lu").in("X", "x").out("Out", "l").out("Pivots", "p")
                .out("Infos", "out").attr("scalar_infos", scalar).build(), Roles.FORWARD);
        Path file = folder.resolve("model." + format);
        InferenceModels.save(file, new InferenceModel(program, List.of("x"), List.of("out"), Map.of()));
        assertEquals(rank, loaded(file).shape().rank());
    }

    /** Of two elements that are equally near, grid_sample takes the one with an even number. */
    @ParameterizedTest
    @CsvSource({"zeros,1 1 3 3 5 5", "border,1 1 3 3 5 5", "reflection,1 1 3 3 5 5"})
    void nearestElementsAreEven(String padding, String expected) throws IOException {
        // The places −0.5, 0.5, 1.5, … of five elements.
        double[] grid = new double[12];
        for (int i = 0; i < 6; i++) {
            grid[2 * i] = (i - 0.5) / 2 - 1;
        }
        feed("x", doubles(new double[]{1, 2, 3, 4, 5}, 1, 1, 1, 5));
        feed("grid", doubles(grid, 1, 1, 6, 2));
        Path file = save(OpDesc.of("grid_sampler").in("X", "x").in("Grid", "grid").out("Output", "out")
                .attr("mode", "nearest").attr("padding_mode", padding).attr("half_to_even", true));
        assertFalse(Files.readString(file).contains("half_to_even"));
        assertEquals(expected, text(loaded(file).toDoubleArray()));
    }

    private static String text(double... values) {
        StringBuilder text = new StringBuilder();
        for (double each : values) {
            text.append(text.isEmpty() ? "" : " ").append((long) each);
        }
        return text.toString();
    }

    @Test
    void weightsAreThoseOfTheLabelOne() throws IOException {
        double[] x = {1.5, -2, 0.25, -0.75};
        double[] label = {1, 1, 0, 0.5};
        double[] weight = {3, 0.5, 2, 4};
        feed("x", doubles(x, 4));
        feed("label", doubles(label, 4));
        feed("weight", doubles(weight, 4));
        Path file = save(OpDesc.of("sigmoid_cross_entropy_with_logits").in("X", "x").in("Label", "label")
                .in("pos_weight", "weight").out("Out", "out").attr("weighs_labels", true));
        double[] expected = new double[4];
        for (int i = 0; i < 4; i++) {
            expected[i] = (1 - label[i]) * x[i] + (1 + (weight[i] - 1) * label[i]) * Math.log1p(Math.exp(-x[i]));
        }
        assertArrayEquals(expected, loaded(file).toDoubleArray(), 1e-12);
    }

    /** Means of whole numbers are rounded down; those of PaddlePaddle 2 towards 0. */
    @ParameterizedTest
    @CsvSource({"-5,0,true,-3", "-5,0,false,-3", "7,-2,true,0", "-1,-2,false,-2", "5,2,false,3"})
    void meansAreRoundedDown(long first, long second, boolean self, long expected) throws IOException {
        feed("x", Tensor.of(new long[]{-3, 1}, 2));
        feed("index", Tensor.of(new long[]{0, 0}, 2));
        feed("value", Tensor.of(new long[]{first, second}, 2));
        Path file = save(OpDesc.of("put_along_axis").in("Input", "x").in("Index", "index").in("Value", "value")
                .out("Result", "out").attr("Axis", 0).attr("Reduce", "mean").attr("Include_self", self)
                .attr("floors_mean", true));
        assertArrayEquals(new long[]{expected, 1}, loaded(file).toLongArray());
    }

    /** Slices as programs of PaddlePaddle 2 have them, with flags and dimensions that are left out. */
    @ParameterizedTest
    @CsvSource({"-1,-6,-2,false,5 3", "-1,-1,-2,false,5 3 1", "4,-3,-2,false,5", "3,0,-1,false,4 3 2", "1,2,1,true,2",
            "0,5,2,false,1 3 5"})
    void slicesMeanTheSame(int start, int end, int stride, boolean drops, String expected) throws IOException {
        feed("x", doubles(new double[]{1, 2, 3, 4, 5}, 5, 1));
        Path file = save(OpDesc.of("strided_slice").in("Input", "x").out("Out", "out").attr("axes", new int[]{0})
                .attr("starts", new int[]{start}).attr("ends", new int[]{end}).attr("strides", new int[]{stride})
                .attr("infer_flags", new int[]{1}).attr("decrease_axis", drops ? new int[]{0} : new int[0]));
        Tensor slice = loaded(file);
        assertEquals(expected, text(slice.toDoubleArray()));
        assertEquals(drops ? 1 : 2, slice.shape().rank());
    }

    @Test
    void ranksAreInt64() throws IOException {
        feed("x", doubles(new double[]{1, 0, 0, 1, 1, 1, 1, 1}, 2, 2, 2));
        Path file = save(OpDesc.of("matrix_rank").in("X", "x").out("Out", "out"));
        Tensor rank = loaded(file);
        assertEquals(DType.INT32, rank.dtype(), "the element type of the program");
        assertArrayEquals(new long[]{2, 1}, rank.toLongArray());
        try (InferenceModel model = InferenceModels.load(file)) {
            OpDesc op = model.program().global().ops().getFirst();
            assertEquals(DType.INT64, model.program().global().get(op.output("Out").getFirst()).tensor().dtype());
        }
    }

    /**
     * Normal numbers are cut at the numbers a and b, whatever mean and deviation are. Mean, deviation, least, greatest
     * and the quantiles 0.1, 0.5 and 0.9 are those of 200,000 numbers that PaddlePaddle 3.3.1 has drawn.
     */
    @ParameterizedTest
    @CsvSource({"0.0 1.0 -2.0 2.0 FLOAT32,-0.0015 0.8800 -1.9998 2.0000 -1.1831 -0.0051 1.1876",
            "0.0 1.0 -2.0 2.0 FLOAT64,-0.0015 0.8800 -1.9998 2.0000 -1.1831 -0.0051 1.1876",
            "5.0 0.5 -2.0 2.0 FLOAT32,-2.0000 0.0000 -2.0000 -2.0000 -2.0000 -2.0000 -2.0000",
            "5.0 0.5 -2.0 2.0 FLOAT64,1.9207 0.0773 1.1940 2.0000 1.8184 1.9439 1.9915",
            "0.5 0.25 -2.0 2.0 FLOAT32,0.4997 0.2501 -0.5486 1.6570 0.1799 0.4987 0.8215",
            "0.0 2.0 -2.0 2.0 FLOAT64,-0.0024 1.0796 -1.9999 2.0000 -1.4972 -0.0072 1.5014",
            "3.0 1.0 -2.0 2.0 FLOAT32,1.4742 0.4456 -1.5696 2.0000 0.8530 1.5881 1.9327",
            "0.0 1.0 -1.0 3.0 FLOAT32,0.2815 0.7860 -1.0000 2.9996 -0.6973 0.1939 1.3740",
            "-1.0 0.7 -0.5 0.25 FLOAT64,-0.2038 0.2041 -0.5000 0.2500 -0.4534 -0.2366 0.1065",
            "1.0 0.0 -2.0 2.0 FLOAT32,1.0000 0.0000 1.0000 1.0000 1.0000 1.0000 1.0000",
            "1.0 -1.0 -2.0 2.0 FLOAT32,0.7158 0.7846 -1.9974 2.0000 -0.3689 0.7970 1.6998",
            "-100.0 1.0 -2.0 2.0 FLOAT64,2.0000 0.0000 2.0000 2.0000 2.0000 2.0000 2.0000",
            "10.0 1.5 -2.0 2.0 FLOAT64,1.7354 0.2565 -0.6383 2.0000 1.3951 1.8122 1.9716",
            "5.0 0.5 4.0 6.0 FLOAT32,4.9993 0.4400 4.0001 6.0000 4.4084 4.9975 5.5938",
            "5.0 0.0 -2.0 2.0 FLOAT32,NaN NaN NaN NaN NaN NaN NaN"})
    void cutsNormalNumbersAtTwoNumbers(String attributes, String statistics) throws IOException {
        String[] given = attributes.split(" ", -1);
        Path file = save(OpDesc.of("truncated_gaussian_random").out("Out", "out").attr("shape", new int[]{20_000})
                .attr("seed", 11).attr("dtype", given[4].equals("FLOAT64") ? 6 : 5));
        String text = Files.readString(file);
        for (int i = 0; i < 4; i++) {
            String name = List.of("mean", "std", "a", "b").get(i);
            String changed = text.replaceFirst("\"D\":[-0-9.]+\\},\"N\":\"" + name + "\"",
                    "\"D\":" + given[i] + "},\"N\":\"" + name + "\"");
            assertTrue(changed.contains("\"D\":" + given[i] + "},\"N\":\"" + name + "\""), changed);
            text = changed;
        }
        Files.writeString(file, text);
        double[] expected = Arrays.stream(statistics.split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
        check(expected, loaded(file).toDoubleArray());
        for (String format : List.of("again.json", "again.pdmodel")) {
            try (InferenceModel model = InferenceModels.load(file)) {
                InferenceModels.save(folder.resolve(format), model);
            }
            check(expected, loaded(folder.resolve(format)).toDoubleArray());
        }
    }

    private static void check(double[] expected, double... values) {
        Arrays.sort(values);
        double mean = Arrays.stream(values).average().orElseThrow();
        double deviation = Math.sqrt(Arrays.stream(values).map(each -> (each - mean) * (each - mean)).average()
                .orElseThrow());
        double[] found = {mean, deviation, values[0], values[values.length - 1], values[values.length / 10],
                values[values.length / 2], values[values.length * 9 / 10]};
        for (int i = 0; i < found.length; i++) {
            boolean end = i == 2 || i == 3;
            assertEquals(expected[i], found[i], end ? 0.3 : 0.03, Arrays.toString(found));
        }
    }
}

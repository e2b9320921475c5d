package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.GradientSignature;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Operation types of this module against formulas, and their gradients against differences. */
class SchemasTest {
    private static final long SEED = 20261123;

    private static List<Tensor> run(OpDesc op, Map<String, Tensor> feeds, String... fetches) {
        Program program = new Program();
        program.global().add(op);
        Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(program, feeds, List.of(fetches));
        return Stream.of(fetches).map(name -> Objects.requireNonNull(results.get(name), name)).toList();
    }

    private static Tensor one(OpDesc.Builder op, Map<String, Tensor> feeds) {
        return run(op.build(), feeds, "out").getFirst();
    }

    @ParameterizedTest
    @CsvSource({"-0.5,-0", "0.5,0", "1.5,2", "2.5,2", "-1.5,-2", "2.4,2", "-2.6,-3"})
    void halvesAreRoundedToEven(float x, float expected) {
        assertEquals(expected, one(OpDesc.of("onnx_round").in("X", "x").out("Out", "out"),
                Map.of("x", Tensor.of(new float[]{x}, 1))).toFloatArray()[0]);
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "FLOAT64", "INT8", "INT32", "INT64", "UINT8", "UINT64"})
    void remaindersHaveTheSignOfTheDividend(DType dtype) {
        long[] x = {7, -7, 100, 3};
        long[] y = {3, 3, 7, 5};
        Tensor a = Tensor.of(dtype, x);
        Tensor b = Tensor.of(dtype, y);
        long[] expected = a.toLongArray();
        for (int i = 0; i < x.length; i++) {
            expected[i] = dtype == DType.UINT64 ? Long.remainderUnsigned(expected[i], y[i]) : expected[i] % y[i];
        }
        assertArrayEquals(expected, one(OpDesc.of("onnx_fmod").in("X", "x").in("Y", "y").out("Out", "out"),
                Map.of("x", a, "y", b)).toLongArray());
    }

    @Test
    void reductionsOfNoElementsHaveTheirValues() {
        for (DType dtype : List.of(DType.FLOAT32, DType.INT8, DType.INT64, DType.UINT16, DType.UINT64, DType.BOOL)) {
            Map<String, Tensor> feeds = Map.of("x", Tensor.of(dtype, new long[0], 2, 0, 3), "axes",
                    Tensor.of(new long[]{1}, 1));
            int width = 8 * dtype.bytes();
            long top = dtype.isUnsigned() ? -1L >>> (64 - width) : -1L >>> (65 - width);
            Tensor most = one(reduce("max"), feeds);
            Tensor least = one(reduce("min"), feeds);
            assertArrayEquals(new long[]{2, 1, 3}, most.shape().dims());
            if (dtype.isFloating()) {
                assertEquals(Double.NEGATIVE_INFINITY, most.getDouble(1, 0, 2));
                assertEquals(Double.POSITIVE_INFINITY, least.getDouble(1, 0, 2));
            } else if (dtype == DType.BOOL) {
                assertEquals(0, most.getLong(1, 0, 2));
                assertEquals(1, least.getLong(1, 0, 2));
            } else {
                assertEquals(dtype.isUnsigned() ? 0 : -top - 1, most.getLong(1, 0, 2));
                assertEquals(top, least.getLong(1, 0, 2));
            }
            assertEquals(0, one(reduce("sum"), feeds).getLong(0, 0, 0));
            assertEquals(1, one(reduce("prod"), feeds).getLong(0, 0, 0));
        }
    }

    private static OpDesc.Builder reduce(String function) {
        return OpDesc.of("onnx_reduce").in("X", "x").in("Axes", "axes").out("Out", "out").attr("function", function);
    }

    @Test
    void withoutAxesAllOrNoneAreReduced() {
        Tensor x = Tensor.of(new float[]{1, -2, 3, 4}, 2, 2);
        OpDesc.Builder all = OpDesc.of("onnx_reduce").in("X", "x").out("Out", "out").attr("function", "l1")
                .attr("keepdims", false);
        assertEquals(10, one(all, Map.of("x", x)).getDouble());
        Tensor each = one(all.attr("noop_with_empty_axes", true), Map.of("x", x));
        assertArrayEquals(new float[]{1, 2, 3, 4}, each.toFloatArray());
        Tensor squares = one(all.attr("function", "sum_square"), Map.of("x", x));
        assertArrayEquals(new float[]{1, 4, 9, 16}, squares.toFloatArray());
    }

    @ParameterizedTest
    @CsvSource({"INT64,9223372036854775800,9223372036854775807,3,3", "INT64,5,0,-2,3", "INT32,0,5,-1,0",
            "UINT8,250,255,2,3", "UINT64,-10,-1,4,3", "FLOAT32,1,2,0.25,4", "FLOAT64,0,-1,-0.5,2", "FLOAT16,0,3,2,2"})
    void rangesAreExact(DType dtype, String start, String limit, String delta, int count) {
        List<String> given = List.of(start, limit, delta);
        Tensor[] numbers = given.stream().map(text -> dtype.isFloating()
                ? Tensor.of(dtype, new double[]{Double.parseDouble(text)})
                : Tensor.of(dtype, new long[]{Long.parseLong(text)})).toArray(Tensor[]::new);
        Tensor range = one(
                OpDesc.of("onnx_range").in("Start", "s").in("Limit", "l").in("Delta", "d").out("Out", "out"),
                Map.of("s", numbers[0], "l", numbers[1], "d", numbers[2]));
        assertEquals(dtype, range.dtype());
        assertArrayEquals(new long[]{count}, range.shape().dims());
        for (int i = 0; i < count; i++) {
            if (dtype.isFloating()) {
                assertEquals(Double.parseDouble(start) + i * Double.parseDouble(delta), range.getDouble(i));
            } else {
                assertEquals(Long.parseLong(start) + i * Long.parseLong(delta), range.getLong(i));
            }
        }
    }

    @Test
    void aRangeNeedsAStep() {
        Map<String, Tensor> feeds = Map.of("s", Tensor.of(new long[]{0}), "l", Tensor.of(new long[]{5}), "d",
                Tensor.of(new long[]{0}));
        OpDesc op = OpDesc.of("onnx_range").in("Start", "s").in("Limit", "l").in("Delta", "d").out("Out", "out")
                .build();
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> run(op, feeds, "out"))
                .getMessage()).contains("Delta must not be 0"));
    }

    /** Against a map, which keeps the elements in order. */
    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "FLOAT64", "INT32", "INT64", "UINT64", "UINT8"})
    void differentElementsAreFound(DType dtype) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (boolean sorted : new boolean[]{true, false}) {
            for (int round = 0; round < 20; round++) {
                int length = random.nextInt(40);
                long base = dtype == DType.INT64 ? Long.MAX_VALUE - 4 : dtype == DType.UINT64 ? Long.MAX_VALUE - 2 : 0;
                Tensor x = Tensor.of(dtype, random.longs(length, 0, 5).map(each -> base + each).toArray(), length);
                long[] in = x.toLongArray();
                Map<Long, List<Integer>> groups = new TreeMap<>(
                        dtype == DType.UINT64 ? Long::compareUnsigned : Long::compare);
                for (int i = 0; i < length; i++) {
                    groups.computeIfAbsent(in[i], _ -> new ArrayList<>()).add(i);
                }
                List<Map.Entry<Long, List<Integer>>> expected = new ArrayList<>(groups.entrySet());
                if (!sorted) {
                    expected.sort((a, b) -> a.getValue().getFirst().compareTo(b.getValue().getFirst()));
                }
                List<Tensor> found = run(OpDesc.of("onnx_unique").in("X", "x").out("Out", "y").out("Indices", "i")
                        .out("Inverse", "v").out("Counts", "c").attr("sorted", sorted).build(), Map.of("x", x), "y",
                        "i", "v", "c");
                assertArrayEquals(expected.stream().mapToLong(Map.Entry::getKey).toArray(),
                        found.get(0).toLongArray());
                assertArrayEquals(expected.stream().mapToLong(each -> each.getValue().getFirst()).toArray(),
                        found.get(1).toLongArray());
                assertArrayEquals(expected.stream().mapToLong(each -> each.getValue().size()).toArray(),
                        found.get(3).toLongArray());
                for (int i = 0; i < length; i++) {
                    assertEquals(in[i], found.get(0).getLong(found.get(2).getLong(i)));
                }
            }
        }
    }

    @Test
    void diagonalsMayLieOutside() {
        for (int k = -4; k <= 5; k++) {
            Tensor eye = one(OpDesc.of("onnx_eye_like").in("X", "x").out("Out", "out").attr("k", (long) k)
                    .attr("dtype", 3), Map.of("x", Tensor.of(new float[12], 3, 4)));
            for (int i = 0; i < 12; i++) {
                assertEquals(i % 4 - i / 4 == k ? 1 : 0, eye.getLong(i / 4, i % 4));
            }
        }
    }

    /**
     * An operation with a gradient.
     *
     * @param op
     *            reads its variables by the names of their slots
     * @param feeds
     *            float64 where it is differentiated
     */
    record Case(OpDesc.Builder op, Map<String, Tensor> feeds) {
        @Override
        public String toString() {
            OpDesc built = op.build();
            return built.type() + built.attributes();
        }
    }

    static Stream<Case> gradients() {
        SplittableRandom random = new SplittableRandom(SEED);
        Tensor x = Tensor.of(random.doubles(24, 0.5, 2).toArray(), 2, 3, 4);
        Tensor y = Tensor.of(random.doubles(4, 0.3, 0.45).toArray(), 4);
        Tensor axes = Tensor.of(new long[]{0, -1}, 2);
        List<Case> cases = new ArrayList<>();
        for (String function : List.of("sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum", "log_sum_exp",
                "sum_square")) {
            for (boolean keep : new boolean[]{true, false}) {
                cases.add(new Case(OpDesc.of("onnx_reduce").in("X", "X").in("Axes", "Axes").out("Out", "Out")
                        .attr("function", function).attr("keepdims", keep), Map.of("X", x, "Axes", axes)));
            }
        }
        cases.add(new Case(OpDesc.of("onnx_fmod").in("X", "X").in("Y", "Y").out("Out", "Out"),
                Map.of("X", x, "Y", y)));
        cases.add(new Case(OpDesc.of("onnx_round").in("X", "X").out("Out", "Out"),
                Map.of("X", Tensor.of(new double[]{0.2, 1.7, -3.1}, 3))));
        cases.add(new Case(OpDesc.of("onnx_cumsum").in("X", "X").in("Axis", "Axis").out("Out", "Out")
                .attr("exclusive", true).attr("reverse", true),
                Map.of("X", x, "Axis", Tensor.of(new long[]{1}))));
        cases.add(new Case(OpDesc.of("onnx_triangle").in("X", "X").in("K", "K").out("Out", "Out").attr("upper", false),
                Map.of("X", x, "K", Tensor.of(new long[]{1}))));
        Tensor condition = Tensor.of(DType.BOOL, new long[]{1, 0, 1}, 3, 1);
        cases.add(new Case(
                OpDesc.of("onnx_where").in("Condition", "Condition").in("X", "X").in("Y", "Y").out("Out", "Out"),
                Map.of("Condition", condition, "X", x, "Y", y)));
        pools(random, cases);
        return cases.stream();
    }

    private static void pools(SplittableRandom random, List<Case> cases) {
        Tensor image = Tensor.of(random.doubles(2 * 3 * 7 * 5, -2, 2).toArray(), 2, 3, 7, 5);
        Tensor line = Tensor.of(random.doubles(2 * 2 * 9, -2, 2).toArray(), 2, 2, 9);
        for (String kind : List.of("max", "avg", "avg_padded", "lp")) {
            for (int p = 2; p <= (kind.equals("lp") ? 3 : 2); p++) {
                cases.add(new Case(pool(kind, p).attr("ksize", new int[]{3, 2}).attr("strides", new int[]{2, 1})
                        .attr("dilations", new int[]{2, 3}).attr("paddings", new int[]{1, 2, 0, 3})
                        .attr("ceil_mode", true), Map.of("X", image)));
                cases.add(new Case(pool(kind, p).attr("ksize", new int[]{4}).attr("strides", new int[]{3})
                        .attr("dilations", new int[]{1}).attr("paddings", new int[]{0, 0})
                        .attr("padding_algorithm", "SAME_LOWER"), Map.of("X", line)));
            }
        }
        Tensor places = Tensor.of(new long[]{0, 9, 9, 30, 35, 22, 40, 64}, 2, 1, 2, 2);
        cases.add(new Case(OpDesc.of("onnx_max_unpool").in("X", "X").in("Indices", "Indices").out("Out", "Out")
                .attr("ksize", new int[]{2, 4}).attr("strides", new int[]{3, 5}).attr("paddings", new int[4]),
                Map.of("X", Tensor.of(random.doubles(8, -2, 2).toArray(), 2, 1, 2, 2), "Indices", places)));
    }

    private static OpDesc.Builder pool(String kind, int p) {
        return OpDesc.of("onnx_pool").in("X", "X").out("Out", "Out").attr("kind", kind).attr("p", (long) p);
    }

    /** The sum of the results times random weights, differentiated. */
    @ParameterizedTest
    @MethodSource("gradients")
    void gradientsAreSlopes(Case one) {
        OpDesc op = one.op.build();
        Tensor out = run(op, one.feeds, "Out").getFirst();
        double[] weights = new SplittableRandom(SEED).doubles(out.shape().size(), -1, 1).toArray();
        String type = ((GradientSignature) Objects.requireNonNull(
                Operations.system().get(op.type()).gradient())).type();
        OpDesc.Builder gradient = OpDesc.of(type);
        op.attributes().forEach(attribute -> gradient.attr(attribute.name(), attribute.value()));
        Map<String, Tensor> feeds = new HashMap<>(one.feeds);
        feeds.put("Out@GRAD", Tensor.of(DType.FLOAT64, weights, out.shape().dims()));
        feeds.put("Out", out);
        Operations.system().get(type).inputs().forEach(slot -> gradient.in(slot.name(), slot.name()));
        List<String> sought = one.feeds.keySet().stream()
                .filter(name -> Objects.requireNonNull(one.feeds.get(name)).dtype() == DType.FLOAT64)
                .sorted().toList();
        sought.forEach(name -> gradient.out(name + "@GRAD", name + "@GRAD"));
        List<Tensor> found = run(gradient.build(), feeds,
                sought.stream().map(name -> name + "@GRAD").toArray(String[]::new));
        for (int i = 0; i < sought.size(); i++) {
            double[] slopes = differences(op, one.feeds, sought.get(i), weights);
            assertArrayEquals(slopes, found.get(i).toDoubleArray(), 1e-6, sought.get(i));
        }
    }

    /** In float32, where a kernel of its own resizes, results and gradients are those of float64. */
    @ParameterizedTest
    @CsvSource({"half_pixel,2,3", "align_corners,0.5,1.5", "asymmetric,2.5,0.4", "pytorch_half_pixel,1,4"})
    void resizedImagesOfFloatsAreThoseOfDoubles(String coordinates, double height, double width) {
        SplittableRandom random = new SplittableRandom(SEED);
        Tensor scales = Tensor.of(DType.FLOAT32, new double[]{1, 1, height, width}, 4);
        double[] x = random.doubles(2 * 3 * 6 * 7, -2, 2).toArray();
        OpDesc op = OpDesc.of("onnx_resize").in("X", "X").in("Scales", "Scales").out("Out", "Out")
                .attr("mode", "linear").attr("coordinates", coordinates).attr("axes", new int[]{0, 1, 2, 3}).build();
        OpDesc.Builder gradient = OpDesc.of("onnx_resize_grad").in("X", "X").in("Scales", "Scales")
                .in("Out@GRAD", "Out@GRAD").out("X@GRAD", "X@GRAD");
        op.attributes().forEach(attribute -> gradient.attr(attribute.name(), attribute.value()));
        List<double[]> found = new ArrayList<>();
        for (DType dtype : List.of(DType.FLOAT64, DType.FLOAT32)) {
            Map<String, Tensor> feeds = new HashMap<>(
                    Map.of("X", Tensor.of(dtype, x, 2, 3, 6, 7), "Scales", scales));
            Tensor out = run(op, feeds, "Out").getFirst();
            assertEquals(dtype, out.dtype());
            double[] weights = new SplittableRandom(SEED).doubles(out.shape().size(), -1, 1).toArray();
            feeds.put("Out@GRAD", Tensor.of(dtype, weights, out.shape().dims()));
            found.add(out.toDoubleArray());
            found.add(run(gradient.build(), feeds, "X@GRAD").getFirst().toDoubleArray());
        }
        assertArrayEquals(found.get(0), found.get(2), 1e-5, "results");
        assertArrayEquals(found.get(1), found.get(3), 1e-5, "gradients");
    }

    /** The parts of any axis; the sum of their elements times random weights is differentiated. */
    @ParameterizedTest
    @CsvSource({"0,1,1", "1,2,1", "-1,1,3", "2,4,0", "-2,0,3"})
    void gradientsOfPartsAreJoinedOnTheirAxis(int axis, long first, long second) {
        SplittableRandom random = new SplittableRandom(SEED);
        Tensor x = Tensor.of(random.doubles(24, 0.5, 2).toArray(), 2, 3, 4);
        Map<String, Tensor> feeds = Map.of("X", x, "Split", Tensor.of(new long[]{first, second}, 2));
        OpDesc op = OpDesc.of("onnx_split").in("X", "X").in("Split", "Split").out("Out", "Out", "Other")
                .attr("axis", axis).build();
        List<Tensor> parts = run(op, feeds, "Out", "Other");
        GradientSignature signature = (GradientSignature) Objects.requireNonNull(
                Operations.system().get("onnx_split").gradient());
        OpDesc.Builder gradient = OpDesc.of(signature.type()).in("X", "Out@GRAD", "Other@GRAD").out("Out", "X@GRAD");
        op.attributes().forEach(attribute -> gradient.attr(attribute.name(), attribute.value()));
        double[] weights = random.doubles(parts.getFirst().shape().size(), -1, 1).toArray();
        Map<String, Tensor> gradients = Map.of(
                "Out@GRAD", Tensor.of(DType.FLOAT64, weights, parts.getFirst().shape().dims()),
                "Other@GRAD", Tensor.of(DType.FLOAT64, new double[(int) parts.getLast().shape().size()],
                        parts.getLast().shape().dims()));
        Tensor found = run(gradient.build(), gradients, "X@GRAD").getFirst();
        assertArrayEquals(x.shape().dims(), found.shape().dims());
        assertArrayEquals(differences(op, feeds, "X", weights), found.toDoubleArray(), 1e-6);
    }

    private static double[] differences(OpDesc op, Map<String, Tensor> feeds, String name, double[] weights) {
        Tensor x = Objects.requireNonNull(feeds.get(name));
        double[] slopes = x.toDoubleArray();
        double step = 1e-6;
        for (int i = 0; i < slopes.length; i++) {
            double[] sums = new double[2];
            for (int side = 0; side < 2; side++) {
                double[] moved = x.toDoubleArray();
                moved[i] += side == 0 ? -step : step;
                Map<String, Tensor> changed = new HashMap<>(feeds);
                changed.put(name, Tensor.of(DType.FLOAT64, moved, x.shape().dims()));
                double[] results = run(op, changed, "Out").getFirst().toDoubleArray();
                for (int j = 0; j < results.length; j++) {
                    sums[side] += results[j] * weights[j];
                }
            }
            slopes[i] = (sums[1] - sums[0]) / (2 * step);
        }
        return slopes;
    }
}

package io.seriatim.graph.quantization;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Functions of 8-bit levels become tables, with the same results. */
class LevelTablesTest {
    private static final long SEED = 20261130;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 1000 : 80;
    private static final List<String> FUNCTIONS = List.of("erf", "sigmoid", "tanh", "exp", "gelu", "silu", "swish",
            "hard_swish", "mish", "softplus", "elu", "log");
    private static final float[] SCALES = {0.02f, 0.3f, 1, 1e-30f, 1e30f, 0, Float.NaN, Float.POSITIVE_INFINITY};

    private final Program program = new Program();
    private final Block block = program.global();
    private SplittableRandom random = new SplittableRandom(SEED);
    private final Map<String, Tensor> parameters = new LinkedHashMap<>();
    private long[] dims = {};
    private int count;

    LevelTablesTest() {
        begin(SEED);
    }

    private void begin(long seed) {
        random = new SplittableRandom(seed);
        dims = new long[]{random.nextInt(1, 5), random.nextInt(1, 40), random.nextInt(1, 30)};
    }

    private String step(DType dtype, OpDesc.Builder op) {
        String out = "v" + count++;
        block.put(VarDesc.of(out, VarType.dense(dtype, dims)));
        block.add(op.out("Out", out).build());
        return out;
    }

    private String parameter(Tensor value) {
        String name = "p" + count++;
        block.put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent());
        parameters.put(name, value);
        return name;
    }

    private String number(float value) {
        return parameter(random.nextBoolean() ? Tensor.of(new float[]{value}, 1) : Tensor.of(new float[]{value}));
    }

    private static OpDesc.Builder cast(String x, DType from, DType to) {
        return OpDesc.of("cast").in("X", x).attr("in_dtype", DataTypes.number(from))
                .attr("out_dtype", DataTypes.number(to));
    }

    private String binary(String function, String x, String y) {
        return step(DType.FLOAT32, OpDesc.of("elementwise_" + function).in("X", x).in("Y", y).attr("axis", -1));
    }

    private DType type(String levels) {
        return block.get(levels).tensor().dtype();
    }

    private String dequantized(String levels, String scale) {
        String wide = step(DType.FLOAT32, cast(levels, type(levels), DType.FLOAT32));
        String centred = random.nextBoolean() ? wide : binary("sub", wide, number(random.nextInt(0, 100)));
        return binary("mul", centred, scale);
    }

    private String quantized(String x, String scale, DType levels) {
        String rounded = step(DType.FLOAT32,
                OpDesc.of("round").in("X", binary("div", x, scale)).attr("half_to_even", true));
        String shifted = binary("add", rounded, number(random.nextInt(0, 100)));
        float least = levels == DType.INT8 ? -128 : 0;
        String clipped = step(DType.FLOAT32,
                OpDesc.of("clip").in("X", shifted).attr("min", least).attr("max", least + 255));
        return step(levels, cast(clipped, DType.FLOAT32, levels));
    }

    private String scale() {
        return number(random.nextInt(4) > 0
                ? (float) random.nextDouble(0.01, 0.1)
                : SCALES[random.nextInt(SCALES.length)]);
    }

    private DType type() {
        return random.nextBoolean() ? DType.INT8 : DType.UINT8;
    }

    private String levels(String name) {
        block.put(VarDesc.of(name, VarType.dense(type(), dims)));
        return name;
    }

    private Tensor values(String name) {
        int least = type(name) == DType.INT8 ? -128 : 0;
        return Tensor.of(type(name), random.longs(Shape.of(dims).size(), least, least + 256).toArray(), dims);
    }

    private double[] run(Program given, String fetch, Map<String, Tensor> feeds) {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        parameters.forEach(interpreter::set);
        return Objects.requireNonNull(interpreter.run(given, feeds, List.of(fetch)).get(fetch)).toDoubleArray();
    }

    private void assertLookedUp(String fetch, int most) {
        Program replaced = LevelTables.of(program);
        assertEquals("lookup_levels", replaced.global().ops().stream()
                .filter(op -> op.outputNames().contains(fetch)).findFirst().orElseThrow().type());
        Map<String, Tensor> feeds = Map.of("x", values("x"));
        double[] expected = run(program, fetch, feeds);
        double[] found = run(replaced, fetch, feeds);
        // Kernels for many elements may give functions other last digits than those for a few.
        assertArrayEquals(expected, found, most);
    }

    /** One function, or two with levels between them and the first levels read again. */
    @TestFactory
    Stream<DynamicTest> resultsAreThoseOfEachElement() {
        return IntStream.range(0, CASES).mapToObj(i -> DynamicTest.dynamicTest("seed " + (SEED + i), () -> {
            LevelTablesTest one = new LevelTablesTest();
            one.begin(SEED + i);
            String x = one.levels("x");
            String number = one.dequantized(x, one.scale());
            String function = FUNCTIONS.get(one.random.nextInt(FUNCTIONS.size()));
            String y = one.step(DType.FLOAT32, OpDesc.of(function).in("X", number));
            String levels = one.quantized(y, one.scale(), one.type());
            one.assertLookedUp(levels, 1);
            String product = one.binary("mul", one.dequantized(levels, one.number(0.1f)), number);
            one.assertLookedUp(one.quantized(product, one.scale(), one.type()), 255);
        }));
    }

    /** Of the GELU that ONNX files hold, with levels after each step, only the last levels are computed. */
    @Test
    void stepsOfGeluAreOneTable() {
        String x = levels("x");
        String a = quantized(binary("div", dequantized(x, number(0.03f)), number(1.4142135f)), number(0.02f),
                DType.UINT8);
        String erf = step(DType.FLOAT32, OpDesc.of("erf").in("X", dequantized(a, number(0.02f))));
        String b = quantized(erf, number(0.008f), DType.UINT8);
        String c = quantized(binary("add", dequantized(b, number(0.008f)), number(1)), number(0.008f), DType.UINT8);
        String d = quantized(binary("mul", dequantized(x, number(0.03f)), dequantized(c, number(0.008f))),
                number(0.05f), DType.UINT8);
        assertLookedUp(d, 1);
    }

    private void assertStays() {
        assertSame(program, LevelTables.of(program));
    }

    @Test
    void arithmeticStays() {
        quantized(dequantized(levels("x"), number(0.1f)), number(0.2f), DType.UINT8);
        assertStays();
    }

    @Test
    void functionsOfMoreThanLevelsStay() {
        float[] scales = new float[(int) dims[2]];
        String perColumn = parameter(Tensor.of(scales.length == 1 ? new float[2] : scales,
                scales.length == 1 ? 2 : scales.length));
        String number = binary("mul", step(DType.FLOAT32, cast(levels("x"), type("x"), DType.FLOAT32)), perColumn);
        quantized(step(DType.FLOAT32, OpDesc.of("tanh").in("X", number)), number(0.1f), DType.UINT8);
        assertStays();
    }

    @Test
    void functionsOfTwoLevelsStay() {
        String both = binary("add", dequantized(levels("x"), number(0.1f)), dequantized(levels("z"), number(0.1f)));
        quantized(step(DType.FLOAT32, OpDesc.of("sigmoid").in("X", both)), number(0.01f), DType.UINT8);
        assertStays();
    }

    /** A scale that is fed, or computed in each run, would have a table be computed in each run. */
    @Test
    void scalesOfRunsStay() {
        block.put(VarDesc.of("s", VarType.dense(DType.FLOAT32, 1)));
        String number = binary("mul", step(DType.FLOAT32, cast(levels("x"), type("x"), DType.FLOAT32)), "s");
        quantized(step(DType.FLOAT32, OpDesc.of("erf").in("X", number)), number(0.1f), DType.INT8);
        assertStays();
    }
}

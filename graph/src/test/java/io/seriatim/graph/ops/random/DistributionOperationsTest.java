package io.seriatim.graph.ops.random;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Distributions with the run-time's own numbers: moments, the share below some points, runs that repeat, and what is
 * refused. Paddle's numbers are golden cases.
 */
class DistributionOperationsTest {
    private static final int MANY = 40_000;

    private static Tensor filled(DType dtype, double value, long... dims) {
        double[] values = new double[(int) Arrays.stream(dims).reduce(1, (a, b) -> a * b)];
        Arrays.fill(values, value);
        return Tensor.of(dtype, values, dims);
    }

    /** The numbers of a first run; a second one gives others, another interpreter begins alike. */
    private static double[] drawn(OpDesc op, Map<String, Tensor> feeds) {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        Program program = SmallProgram.program(op);
        double[] first = SmallProgram.run(interpreter, program, feeds, "y").toDoubleArray();
        double[] second = SmallProgram.run(interpreter, program, feeds, "y").toDoubleArray();
        double[] again = SmallProgram.run(Interpreter.of(Kernels.portable()), program, feeds, "y").toDoubleArray();
        assertFalse(Arrays.equals(first, second), "a second run draws other numbers");
        assertArrayEquals(first, again, 1e-6, "another interpreter begins alike");
        return first;
    }

    private static double mean(double[] values) {
        return Arrays.stream(values).average().orElse(Double.NaN);
    }

    private static double variance(double[] values) {
        double mean = mean(values);
        return Arrays.stream(values).map(value -> (value - mean) * (value - mean)).average().orElse(Double.NaN);
    }

    /** The largest distance between the share of numbers up to a point and the probability. */
    private static void follows(double[] values, DoubleUnaryOperator probability, double... points) {
        for (double point : points) {
            double share = Arrays.stream(values).filter(value -> value <= point).count() / (double) values.length;
            // Five standard deviations of a share of that many numbers.
            assertEquals(probability.applyAsDouble(point), share, 2.5 / Math.sqrt(values.length), "up to " + point);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.1, 3, 11.9, 12, 13.7, 100, 5000})
    void poissonNumbersFollowTheirMean(double mean) {
        double[] values = drawn(OpDesc.of("poisson").in("X", "x").out("Out", "y").build(),
                Map.of("x", filled(DType.FLOAT64, mean, MANY)));
        double error = 6 * Math.sqrt(mean / MANY);
        assertEquals(mean, mean(values), error);
        assertEquals(mean, variance(values), mean * 0.04 + error);
        assertTrue(Arrays.stream(values).allMatch(value -> value >= 0 && value == Math.rint(value)));
        double deviation = Math.sqrt(mean);
        follows(values, x -> poisson(mean, x), Math.floor(mean - deviation), Math.floor(mean),
                Math.floor(mean + deviation), Math.floor(mean + 2 * deviation));
    }

    /** The probability of a number up to x: a sum of terms that are multiplied up from the largest. */
    private static double poisson(double mean, double x) {
        double sum = 0;
        double all = 0;
        int mode = (int) mean;
        double term = 1;
        for (int k = mode; k >= 0 && term > 1e-18; k--) {
            all += term;
            sum += k <= x ? term : 0;
            term *= k / mean;
        }
        term = mean / (mode + 1);
        for (int k = mode + 1; term > 1e-18; k++) {
            all += term;
            sum += k <= x ? term : 0;
            term *= mean / (k + 1);
        }
        return sum / all;
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "FLOAT64", "FLOAT16", "BFLOAT16"})
    void exponentialNumbersFollowTheirRate(DType dtype) {
        double[] values = drawn(
                OpDesc.of("exponential").in("X", "x").out("Out", "y").attr("lambda", 2f).build(),
                Map.of("x", filled(dtype, 0, 200, 200)));
        assertEquals(0.5, mean(values), 0.02);
        assertEquals(0.25, variance(values), 0.02);
        assertTrue(Arrays.stream(values).allMatch(value -> value >= 0 && Double.isFinite(value)));
        follows(values, x -> 1 - Math.exp(-2 * x), 0.0501, 0.201, 0.501, 1.01, 2.01);
    }

    @ParameterizedTest
    @ValueSource(strings = {"FLOAT32", "FLOAT64", "FLOAT16"})
    void dirichletRowsAddToOneAndHaveTheirMeans(String type) {
        double[] alphas = {0.5, 1, 2.5};
        double[] all = new double[3 * MANY];
        Arrays.setAll(all, i -> alphas[i % 3]);
        DType dtype = DType.valueOf(type);
        double[] values = drawn(OpDesc.of("dirichlet").in("Alpha", "x").out("Out", "y").build(),
                Map.of("x", Tensor.of(dtype, all, MANY, 3)));
        double tolerance = dtype == DType.FLOAT16 ? 2e-3 : 1e-6;
        for (int i = 0; i < values.length; i += 3) {
            assertEquals(1, values[i] + values[i + 1] + values[i + 2], tolerance);
        }
        for (int category = 0; category < 3; category++) {
            int at = category;
            double[] part = new double[MANY];
            Arrays.setAll(part, i -> values[3 * i + at]);
            double expected = alphas[category] / 4;
            assertEquals(expected, mean(part), 0.01);
            assertEquals(expected * (1 - expected) / 5, variance(part), 0.005);
        }
    }

    @Test
    void slopesOfRreluFillTheirRange() {
        OpDesc op = OpDesc.of("rrelu").in("X", "x").out("Out", "y").out("Noise", "n").attr("lower", 0.25f)
                .attr("upper", 0.75f).build();
        double[] values = drawn(op, Map.of("x", filled(DType.FLOAT32, -1, MANY)));
        follows(values, x -> (x + 0.75) / 0.5, -0.7, -0.6, -0.5, -0.4, -0.3);
        assertTrue(Arrays.stream(values).allMatch(value -> value >= -0.75 && value <= -0.25));
        Program program = SmallProgram.program(op, OpDesc.of("rrelu_grad").in("X", "x").in("Noise", "n")
                .in("Out@GRAD", "x").out("X@GRAD", "dx").build());
        Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(program,
                Map.of("x", Tensor.of(new float[]{-2, 0, 3, Float.NaN}, 4)), List.of("y", "n", "dx"));
        double[] y = Objects.requireNonNull(results.get("y")).toDoubleArray();
        assertArrayEquals(new double[]{0, 3, Double.NaN}, Arrays.copyOfRange(y, 1, 4));
        assertArrayEquals(y, Objects.requireNonNull(results.get("dx")).toDoubleArray());
    }

    @Test
    void tensorsAreFilledInPlace() {
        double[] uniform = drawn(OpDesc.of("uniform_random_inplace").in("X", "x").out("Out", "y").attr("min", 1f)
                .attr("max", 3f).build(), Map.of("x", filled(DType.FLOAT32, 0, MANY)));
        follows(uniform, x -> (x - 1) / 2, 1.2, 1.7, 2.5);
        double[] normal = drawn(
                OpDesc.of("gaussian_inplace").in("x", "x").out("out", "y").attr("mean", 1f).attr("std", 3f).build(),
                Map.of("x", filled(DType.FLOAT64, 0, MANY)));
        assertEquals(1, mean(normal), 0.1);
        assertEquals(9, variance(normal), 0.4);
        OpDesc seeded = OpDesc.of("gaussian_inplace").in("x", "x").out("out", "x").attr("seed", 4).build();
        Program program = SmallProgram.program(seeded);
        Map<String, Tensor> feeds = Map.of("x", filled(DType.FLOAT32, 0, 5));
        Interpreter interpreter = Interpreter.of(Kernels.system());
        double[] first = SmallProgram.run(interpreter, program, feeds, "x").toDoubleArray();
        assertArrayEquals(first, SmallProgram.run(interpreter, program, feeds, "x").toDoubleArray());
        assertTrue(Arrays.stream(first).allMatch(value -> value != 0));
    }

    /** One number of the mask serves all elements along the other axes, in the result and in the gradient. */
    @Test
    void dropoutAlongAxesDropsWholeLines() {
        for (int axis = 0; axis < 3; axis++) {
            OpDesc.Builder op = OpDesc.of("dropout_nd").in("X", "x").out("Out", "y").out("Mask", "m");
            OpDesc.Builder grad = OpDesc.of("dropout_nd_grad").in("Mask", "m").in("Out@GRAD", "x").out("X@GRAD", "dx");
            for (OpDesc.Builder each : List.of(op, grad)) {
                each.attr("axis", new int[]{axis}).attr("dropout_prob", 0.25f)
                        .attr("dropout_implementation", "upscale_in_train");
            }
            Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(
                    SmallProgram.program(op.build(), grad.build()),
                    Map.of("x", filled(DType.FLOAT32, 3, 40, 40, 40)), List.of("y", "m", "dx"));
            double[] mask = Objects.requireNonNull(results.get("m")).toDoubleArray();
            assertEquals(40, mask.length);
            assertTrue(mean(mask) > 0.4 && mean(mask) < 1, () -> Arrays.toString(mask));
            double[] y = Objects.requireNonNull(results.get("y")).toDoubleArray();
            int stride = axis == 0 ? 1600 : axis == 1 ? 40 : 1;
            for (int i = 0; i < y.length; i++) {
                assertEquals(4 * mask[i / stride % 40], y[i], 1e-6);
            }
            assertArrayEquals(y, Objects.requireNonNull(results.get("dx")).toDoubleArray());
        }
    }

    /** An operation, its input, and the parts of the message. */
    record Hostile(OpDesc.Builder op, Tensor x, List<String> parts) {
        static Hostile of(OpDesc.Builder op, Tensor x, String... parts) {
            return new Hostile(op, x, List.of(parts));
        }
    }

    static Stream<Hostile> hostile() {
        Tensor floats = Tensor.of(new float[]{1, 2}, 2);
        Tensor whole = Tensor.of(new long[]{1, 2}, 2);
        return Stream.of(Hostile.of(unary("poisson"), whole, "'poisson'", "X must be", "int64"),
                Hostile.of(unary("poisson"), Tensor.of(new double[]{Double.POSITIVE_INFINITY}, 1), "poisson", "X",
                        "Infinity"),
                Hostile.of(unary("poisson"), Tensor.of(new double[]{3e9}, 1), "poisson", "2.0E9 or less", "3.0E9"),
                Hostile.of(unary("exponential"), whole, "'exponential'", "int64"),
                Hostile.of(unary("exponential").attr("lambda", 0f), floats, "lambda must be above 0", "0.0"),
                Hostile.of(unary("exponential").attr("lambda", Float.NaN), floats, "lambda", "NaN"),
                Hostile.of(unary("rrelu").attr("lower", 0.5f), floats, "lower not above upper", "0.5"),
                Hostile.of(unary("rrelu").attr("upper", 1.5f), floats, "from 0 to 1", "1.5"),
                Hostile.of(unary("rrelu").attr("lower", Float.NaN), floats, "from 0 to 1", "NaN"),
                Hostile.of(unary("rrelu"), whole, "'rrelu'", "int64"),
                Hostile.of(unary("uniform_random_inplace").attr("max", Float.POSITIVE_INFINITY), floats,
                        "max must be finite", "Infinity"),
                Hostile.of(unary("uniform_random_inplace"), whole, "floating-point", "int64"),
                Hostile.of(unary("dropout_nd").attr("axis", new int[]{1}), floats, "axis", "1 dimensions", "[1]"),
                Hostile.of(unary("dropout_nd").attr("axis", new int[]{-1}), floats, "axis", "[-1]"),
                Hostile.of(unary("dropout_nd").attr("dropout_prob", 2f), floats, "dropout_prob", "2.0"),
                Hostile.of(OpDesc.of("gaussian_inplace").in("x", "x").out("out", "y").attr("std", Float.NaN), floats,
                        "std must be finite", "NaN"),
                Hostile.of(OpDesc.of("dirichlet").in("Alpha", "x").out("Out", "y"),
                        Tensor.of(new float[]{1, -0.5f}, 2), "dirichlet", "Alpha", "-0.5"),
                Hostile.of(OpDesc.of("dirichlet").in("Alpha", "x").out("Out", "y"),
                        Tensor.of(new float[]{Float.NaN}, 1), "Alpha", "NaN"),
                Hostile.of(OpDesc.of("dirichlet").in("Alpha", "x").out("Out", "y"), Tensor.of(new float[]{1}),
                        "dimension of categories"));
    }

    private static OpDesc.Builder unary(String type) {
        return OpDesc.of(type).in("X", "x").out("Out", "y");
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void whatMakesNoSenseIsRefused(Hostile hostile) {
        refused(hostile.op().build(), Map.of("x", hostile.x()), hostile.parts().toArray(String[]::new));
    }
}

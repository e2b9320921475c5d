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
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Random operations with the run-time's own numbers: repeatable, of the right distribution, and refused where they make
 * no sense.
 */
class RandomOperationsTest {
    private static final int MANY = 40_000;
    private static final int DOUBLE = 6;

    private static OpDesc.Builder uniform() {
        return OpDesc.of("uniform_random").out("Out", "y").attr("shape", new long[]{MANY});
    }

    private static double[] twice(OpDesc op, boolean same, Map<String, Tensor> feeds) {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        Program program = SmallProgram.program(op);
        double[] first = SmallProgram.run(interpreter, program, feeds, "y").toDoubleArray();
        double[] second = SmallProgram.run(interpreter, program, feeds, "y").toDoubleArray();
        double[] again = SmallProgram.run(Interpreter.of(Kernels.portable()), program, feeds, "y").toDoubleArray();
        assertEquals(same, Arrays.equals(first, second), "a second run gives the same");
        assertArrayEquals(first, again, "another interpreter begins alike");
        return first;
    }

    private static double mean(double[] values) {
        return Arrays.stream(values).average().orElse(Double.NaN);
    }

    private static double deviation(double[] values) {
        double mean = mean(values);
        return Math
                .sqrt(Arrays.stream(values).map(value -> (value - mean) * (value - mean)).average().orElse(Double.NaN));
    }

    @Test
    void withASeedEachRunIsTheSame() {
        twice(uniform().attr("seed", 5).build(), true, Map.of());
        twice(uniform().build(), false, Map.of());
    }

    @Test
    void uniformNumbersFillTheirRange() {
        double[] values = twice(uniform().attr("min", -2f).attr("max", 6f).build(), false, Map.of());
        assertEquals(2, mean(values), 0.1);
        assertEquals(8 / Math.sqrt(12), deviation(values), 0.05);
        assertTrue(Arrays.stream(values).allMatch(value -> value >= -2 && value < 6));
    }

    @Test
    void aDiagonalIsSet() {
        OpDesc op = OpDesc.of("uniform_random").out("Out", "y").attr("shape", new long[]{2, 3}).attr("diag_num", 2)
                .attr("diag_step", 3)
                .attr("diag_val", 9f).build();
        double[] values = SmallProgram.run(op, Map.of(), "y").toDoubleArray();
        assertEquals(9, values[0]);
        assertEquals(9, values[4]);
        assertEquals(2, Arrays.stream(values).filter(value -> value == 9).count());
    }

    @Test
    void normalNumbersHaveTheirMoments() {
        OpDesc.Builder op = OpDesc.of("gaussian_random").out("Out", "y").attr("shape", new long[]{MANY})
                .attr("mean", 3f).attr("dtype",
                        DOUBLE);
        double[] values = twice(op.attr("std", -2f).build(), false, Map.of());
        assertEquals(3, mean(values), 0.05);
        assertEquals(2, deviation(values), 0.05);
        double[] cut = SmallProgram
                .run(OpDesc.of("truncated_gaussian_random").out("Out", "y").attr("shape", new int[]{MANY})
                        .attr("mean", 3f)
                        .attr("std", 2f).build(), Map.of(), "y")
                .toDoubleArray();
        assertEquals(3, mean(cut), 0.05);
        assertEquals(2 * 0.8796, deviation(cut), 0.05);
        assertTrue(Arrays.stream(cut).allMatch(value -> value >= -1 && value <= 7));
    }

    @Test
    void theBatchDecidesADimension() {
        for (String type : List.of("uniform_random_batch_size_like", "gaussian_random_batch_size_like")) {
            OpDesc op = OpDesc.of(type).in("Input", "x").out("Out", "y").attr("shape", new int[]{7, -1})
                    .attr("input_dim_idx", 2)
                    .attr("output_dim_idx", 1).build();
            assertEquals(Shape.of(7, 5),
                    SmallProgram.run(op, Map.of("x", Tensor.of(new float[30], 2, 3, 5)), "y").shape());
        }
    }

    @Test
    void wholeNumbersFillTheirRange() {
        double[] values = twice(
                OpDesc.of("randint").out("Out", "y").attr("shape", new long[]{MANY}).attr("low", -3).attr("high", 2)
                        .build(),
                false,
                Map.of());
        assertArrayEquals(new double[]{-3, -2, -1, 0, 1}, Arrays.stream(values).distinct().sorted().toArray());
        assertEquals(-1, mean(values), 0.05);
    }

    @Test
    void permutationsHaveEachNumberOnce() {
        for (int dtype : new int[]{2, 3, DOUBLE}) {
            double[] values = twice(OpDesc.of("randperm").out("Out", "y").attr("n", 100).attr("dtype", dtype).build(),
                    false, Map.of());
            assertArrayEquals(IntStream.range(0, 100).asDoubleStream().toArray(),
                    Arrays.stream(values).sorted().toArray());
        }
    }

    @Test
    void bernoulliFollowsItsProbabilities() {
        float[] probabilities = new float[MANY];
        Arrays.fill(probabilities, 0.3f);
        probabilities[0] = 0;
        probabilities[1] = 1;
        double[] values = twice(OpDesc.of("bernoulli").in("X", "x").out("Out", "y").build(), false,
                Map.of("x", Tensor.of(probabilities, MANY)));
        assertEquals(0, values[0]);
        assertEquals(1, values[1]);
        assertEquals(0.3, mean(values), 0.02);
    }

    @Test
    void multinomialFollowsItsWeights() {
        Tensor x = Tensor.of(new float[]{1, 0, 3, 6, 2, 2, 0, 0}, 2, 4);
        double[] many = twice(
                OpDesc.of("multinomial").in("X", "x").out("Out", "y").attr("num_samples", MANY)
                        .attr("replacement", true).build(),
                false, Map.of("x", x));
        double[] first = Arrays.copyOf(many, MANY);
        assertEquals(0.3, Arrays.stream(first).filter(value -> value == 2).count() / (double) MANY, 0.02);
        assertEquals(0, Arrays.stream(first).filter(value -> value == 1).count());
        double[] once = SmallProgram
                .run(OpDesc.of("multinomial").in("X", "x").out("Out", "y").attr("num_samples", 2).build(),
                        Map.of("x", x), "y")
                .toDoubleArray();
        assertFalse(once[0] == once[1] || once[0] == 1 || once[1] == 1);
        assertEquals(1, once[2] + once[3]);
    }

    @Test
    void aSeedIsGivenOrDrawn() {
        assertArrayEquals(new double[]{42},
                twice(OpDesc.of("seed").out("Out", "y").attr("seed", 42).build(), true, Map.of()));
        assertTrue(twice(OpDesc.of("seed").out("Out", "y").build(), false, Map.of())[0] > 0);
    }

    @Test
    void dropoutKeepsItsShareAndItsMeanForEachType() {
        for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16)) {
            double[] ones = new double[MANY];
            Arrays.fill(ones, 1);
            Tensor x = Tensor.of(dtype, ones, MANY);
            Program program = SmallProgram.program(
                    OpDesc.of("dropout").in("X", "x").out("Out", "y").out("Mask", "m").attr("dropout_prob", 0.2f)
                            .attr("dropout_implementation", "upscale_in_train").build(),
                    OpDesc.of("dropout_grad").in("Mask", "m").in("Out@GRAD", "x").out("X@GRAD", "dx")
                            .attr("dropout_prob", 0.2f)
                            .attr("dropout_implementation", "upscale_in_train").build());
            Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(program, Map.of("x", x),
                    List.of("y", "m", "dx"));
            double[] y = Objects.requireNonNull(results.get("y")).toDoubleArray();
            assertEquals(0.8, mean(Objects.requireNonNull(results.get("m")).toDoubleArray()), 0.01, dtype.toString());
            assertEquals(1, mean(y), 0.01, dtype.toString());
            assertArrayEquals(y, Objects.requireNonNull(results.get("dx")).toDoubleArray(), dtype.toString());
        }
    }

    @Test
    void dropoutRepeatsItselfWithAGivenSeed() {
        float[] ones = new float[1000];
        Arrays.fill(ones, 1);
        Tensor x = Tensor.of(ones, ones.length);
        OpDesc op = OpDesc.of("dropout").in("X", "x").in("Seed", "s").out("Out", "y").out("Mask", "m").build();
        double[] first = twice(op, true, Map.of("x", x, "s", Tensor.of(DType.INT32, new long[]{9}, 1)));
        double[] other = twice(op, true, Map.of("x", x, "s", Tensor.of(DType.INT32, new long[]{10}, 1)));
        assertFalse(Arrays.equals(first, other));
        twice(op, false, Map.of("x", x, "s", Tensor.of(DType.INT32, new long[]{0}, 1)));
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        Tensor whole = Tensor.of(new long[]{1, 2}, 2);
        refused(OpDesc.of("uniform_random").out("Out", "y").attr("shape", new long[]{2, -3}).build(), Map.of(),
                "0 or more", "[2, -3]");
        refused(OpDesc.of("uniform_random").out("Out", "y").attr("shape", new long[]{2}).attr("dtype", 3).build(),
                Map.of(),
                "but is int64");
        refused(OpDesc.of("uniform_random").out("Out", "y").attr("shape", new long[]{6}).attr("diag_num", 5)
                .attr("diag_step", 2).build(),
                Map.of(), "need more than 12 elements, but there are 6");
        refused(OpDesc.of("uniform_random_batch_size_like").in("Input", "x").out("Out", "y").attr("shape", new int[]{2})
                .attr("input_dim_idx", 1).build(), Map.of("x", whole), "input_dim_idx must be from 0 to 0, but is 1");
        refused(OpDesc.of("randint").out("Out", "y").attr("shape", new long[]{2}).attr("low", 3).attr("high", 3)
                .build(), Map.of(),
                "less than high, but they are 3 and 3");
        refused(OpDesc.of("randperm").out("Out", "y").attr("n", -1).build(), Map.of(), "but is -1");
        refused(OpDesc.of("bernoulli").in("X", "x").out("Out", "y").build(),
                Map.of("x", Tensor.of(new float[]{0.5f, 1.5f}, 2)),
                "from 0 to 1, but one is 1.5");
        refused(OpDesc.of("bernoulli").in("X", "x").out("Out", "y").build(), Map.of("x", whole),
                "floating-point type, but is int64");
        refused(OpDesc.of("multinomial").in("X", "x").out("Out", "y").attr("num_samples", 2).build(),
                Map.of("x", Tensor.of(new float[]{0, 3}, 2)), "need 2 categories of a weight above 0, but there are 1");
        refused(OpDesc.of("multinomial").in("X", "x").out("Out", "y").build(),
                Map.of("x", Tensor.of(new float[]{-1, 3}, 2)),
                "0 or more, but one is -1.0");
        refused(OpDesc.of("dropout").in("X", "x").out("Out", "y").build(), Map.of("x", whole),
                "floating-point type, but is int64");
        refused(OpDesc.of("dropout").in("X", "x").out("Out", "y").attr("dropout_prob", 1.5f).build(),
                Map.of("x", Tensor.of(new float[2], 2)), "from 0 to 1, but is 1.5");
        refused(OpDesc.of("dropout").in("X", "x").out("Out", "y").attr("dropout_implementation", "none").build(),
                Map.of("x", Tensor.of(new float[2], 2)), "upscale_in_train, but is 'none'");
    }
}

package io.seriatim.graph.ops.quantization;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** quant_linear and rms_norm, for which PaddlePaddle has kernels on GPUs only, against their formulas. */
class QuantizedProductTest {
    private static final float TOLERANCE = 1e-5f;

    private static Tensor bytes(long[] dims, long... values) {
        return Tensor.of(DType.INT8, values, dims);
    }

    private static List<Interpreter> interpreters() {
        return List.of(Interpreter.of(Kernels.portable()), Interpreter.of(Kernels.system()));
    }

    /** Halves are rounded as the attribute says: 127 · 1/127 · 2.5 is 3 or 2. */
    @Test
    void roundsAsItIsTold() {
        Tensor x = Tensor.of(new float[]{2.5f, -3.5f, 500, 1}, 2, 1, 2);
        Tensor w = bytes(new long[]{2, 3}, 1, 2, 3, -1, 0, 127);
        for (int type : new int[]{0, 1}) {
            OpDesc op = OpDesc.of("quant_linear").in("x", "x").in("w", "w").in("bias", "b").out("out", "y")
                    .attr("scale_in", 1f / 127).attr("scale_weights", new float[]{1f / 127, 2f / 127, 1f / 127})
                    .attr("quant_round_type", type).attr("in_num_col_dims", 2).attr("activation_type", "relu")
                    .build();
            Map<String, Tensor> feeds = Map.of("x", x, "w", w, "b", Tensor.of(new float[]{0, 0.5f, 0}, 3));
            float a = type == 0 ? 2 : 3;
            float[] expected = {a + 4, a + 0.5f, 0, 126, 127.5f, 508};
            for (Interpreter interpreter : interpreters()) {
                Tensor y = SmallProgram.run(interpreter, SmallProgram.program(op), feeds, "y");
                assertEquals(Shape.of(2, 1, 3), y.shape());
                assertArrayEquals(expected, y.toFloatArray(), 508 * TOLERANCE);
            }
        }
    }

    /** Of more products than float32 could add exactly. */
    @Test
    void sumsAreExact() {
        int inner = 2000;
        SplittableRandom random = new SplittableRandom(7);
        float[] x = new float[inner];
        long[] w = new long[inner];
        long sum = 0;
        for (int i = 0; i < inner; i++) {
            x[i] = random.nextInt(100, 128);
            w[i] = random.nextInt(100, 128);
            sum += w[i] * (long) x[i];
        }
        OpDesc op = OpDesc.of("quant_linear").in("x", "x").in("w", "w").out("out", "y").attr("scale_in", 1f / 127)
                .attr("scale_weights", new float[]{1f / 127}).build();
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(x, 1, inner), "w", bytes(new long[]{inner, 1}, w));
        for (Interpreter interpreter : interpreters()) {
            assertEquals((float) sum, SmallProgram.run(interpreter, SmallProgram.program(op), feeds, "y")
                    .toFloatArray()[0], sum * 1e-6f);
        }
    }

    private static OpDesc.Builder norm() {
        return OpDesc.of("rms_norm").in("x", "x").in("norm_weight", "w").out("out", "y").out("residual_out", "r")
                .attr("epsilon", 0.5f).attr("begin_norm_axis", 1);
    }

    @Test
    void rowsAreDividedByTheRootOfTheirMeanSquare() {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[]{1, 2, 3, 4}, 2, 1, 2), "w",
                Tensor.of(new float[]{1, 10}, 2), "b", Tensor.of(new float[]{0.5f, 0}, 2), "o",
                Tensor.of(new float[]{1, 0, -2, 1}, 2, 1, 2));
        double first = Math.sqrt(2.5 + 0.5);
        double second = Math.sqrt(12.5 + 0.5);
        double[] plain = {1 / first, 20 / first, 3 / second, 40 / second};
        assertArrayEquals(plain, SmallProgram.run(norm().build(), feeds, "y").toDoubleArray(), TOLERANCE);
        // The sums are 2.5 2 and 1.5 5.
        double third = Math.sqrt((2.5 * 2.5 + 4) / 2 + 0.5);
        double fourth = Math.sqrt((1.5 * 1.5 + 25) / 2 + 0.5);
        double[] together = {2.5 / third + 0.5, 20 / third, 1.5 / fourth + 0.5, 50 / fourth};
        OpDesc with = norm().in("residual", "o").in("bias", "b").in("norm_bias", "b").build();
        assertArrayEquals(together, SmallProgram.run(with, feeds, "y").toDoubleArray(), TOLERANCE);
        assertArrayEquals(new double[]{2.5, 2, 1.5, 5}, SmallProgram.run(with, feeds, "r").toDoubleArray(), TOLERANCE);
        OpDesc rounded = norm().attr("quant_scale", 1f / 127).attr("quant_max_bound", 127f)
                .attr("quant_min_bound", -127f).attr("quant_round_type", 1).build();
        Tensor y = SmallProgram.run(rounded, feeds, "y");
        assertEquals(DType.INT8, y.dtype());
        assertArrayEquals(new long[]{1, 12, 1, 11}, y.toLongArray());
    }

    private static OneOperation linear(long... w) {
        return new OneOperation("quant_linear").in("x", DType.FLOAT32, 2, 3).in("w", DType.INT8, w).out("out");
    }

    private static OneOperation rootMeanSquare(int axis, long... weight) {
        return new OneOperation("rms_norm").in("x", DType.FLOAT32, 2, 3).in("norm_weight", DType.FLOAT32, weight)
                .out("out").attr("epsilon", 1e-5f).attr("begin_norm_axis", axis);
    }

    static Stream<Arguments> refusals() {
        return Stream.of(Arguments.of(linear(4, 2), "4 rows"), Arguments.of(linear(3), "matrix"),
                Arguments.of(linear(3, 2).attr("in_num_col_dims", 2), "in_num_col_dims"),
                Arguments.of(linear(3, 2).attr("in_num_col_dims", 0), "in_num_col_dims"),
                Arguments.of(linear(3, 2).attr("scale_weights", new float[]{1, 2, 3}), "scale_weights"),
                Arguments.of(linear(3, 2).attr("activation_type", "gelu"), "gelu"),
                Arguments.of(linear(3, 2).attr("quant_max_bound", 1e9f), "quant_max_bound"),
                Arguments.of(linear(3, 2).attr("quant_round_type", 5), "quant_round_type"),
                Arguments.of(linear(3, 2).attr("padding_weights", true), "padding"),
                Arguments.of(linear(3, 2).in("bias", DType.FLOAT32, 3), "bias"),
                Arguments.of(rootMeanSquare(0, 3), "begin_norm_axis"),
                Arguments.of(rootMeanSquare(2, 3), "begin_norm_axis"),
                Arguments.of(rootMeanSquare(1, 2), "norm_weight"),
                Arguments.of(rootMeanSquare(1, 3).in("residual", DType.FLOAT32, 3, 2), "residual"),
                Arguments.of(rootMeanSquare(1, 3).attr("quant_scale", 1f).attr("quant_max_bound", 200f),
                        "quant_max_bound"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void areRefused(OneOperation operation, String part) {
        operation.isRefused(part);
    }
}

package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Quantize;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Results of int8 products that are quantized again are written as int8. */
class RequantizationTest {
    private final Program program = new Program();
    private final Block block = program.global();
    private final Map<String, Tensor> parameters = new LinkedHashMap<>();

    private static Tensor normal(long salt, long... dims) {
        Random random = new Random(20261123 + salt);
        float[] values = new float[(int) Shape.of(dims).size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, dims);
    }

    private void parameter(String name, Tensor value) {
        block.put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent());
        parameters.put(name, value);
    }

    private void step(String out, OpDesc.Builder op) {
        block.put(VarDesc.of(out, VarType.dense(DType.FLOAT32, -1)));
        block.add(op.build());
    }

    private String dequantized(String x, float scale) {
        parameter(x + "@scale", Tensor.of(new float[]{scale}, 1));
        step(x + ".q", OpDesc.of("quantize_linear").in("X", x).in("Scale", x + "@scale").in("ZeroPoint", "zero")
                .out("Y", x + ".q").attr("quant_axis", -1));
        step(x + ".d", OpDesc.of("dequantize_linear").in("X", x + ".q").in("Scale", x + "@scale")
                .in("ZeroPoint", "zero").out("Y", x + ".d").attr("quant_axis", -1));
        return x + ".d";
    }

    private String weights(String w, int axis, long... dims) {
        float[] values = normal(w.hashCode(), dims).toFloatArray();
        long[] levels = new long[values.length];
        for (int i = 0; i < levels.length; i++) {
            levels[i] = Math.clamp(Math.round(values[i] * 40), -127, 127);
        }
        parameter(w, Tensor.of(DType.INT8, levels, dims));
        float[] scales = new float[(int) dims[axis]];
        Arrays.fill(scales, 0.4f);
        parameter(w + "@scale", Tensor.of(scales, scales.length));
        step(w + ".d", OpDesc.of("dequantize_linear").in("X", w).in("Scale", w + "@scale").in("ZeroPoint", "zero")
                .out("Y", w + ".d").attr("quant_axis", axis));
        return w + ".d";
    }

    @BeforeEach
    void zero() {
        parameter("zero", Tensor.of(new float[]{0}, 1));
    }

    private long stages(Predicate<Computation> which, String fetch, Tensor x) {
        try (Executor executor = Executor.builder().threads(1).build()) {
            parameters.forEach(executor.scope()::set);
            Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches(fetch));
            return Task.stages(Internals.compiled(plan, executor.scope(), x).tasks())
                    .filter(stage -> stage.computation() != null && which.test(stage.computation())).count();
        }
    }

    private double[] run(Executor.Builder builder, String fetch, Tensor x) {
        try (Executor executor = builder.build()) {
            parameters.forEach(executor.scope()::set);
            Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches(fetch));
            plan.run(x);
            return plan.run(x).get(fetch).toDoubleArray();
        }
    }

    private void assertNear(String fetch, Tensor x) {
        double[] expected = run(Executor.builder().threads(1).without(Pass.INTEGERS), fetch, x);
        double largest = Arrays.stream(expected).map(Math::abs).max().orElseThrow();
        assertTrue(largest > 0);
        for (Executor.Builder builder : Stream.of(Executor.builder().threads(1), Executor.builder().threads(2),
                Executor.builder().threads(2).memoryPlan(false)).toList()) {
            double[] actual = run(builder, fetch, x);
            double sum = 0;
            for (int i = 0; i < expected.length; i++) {
                // A number between two levels may be rounded to the other one.
                assertEquals(expected[i], actual[i], 0.02 * largest, "element " + i);
                sum += Math.abs(expected[i] - actual[i]);
            }
            assertEquals(0, sum / expected.length, 5e-4 * largest);
        }
    }

    private String images(String activation) {
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 16, 12, 12)));
        step("a", OpDesc.of("conv2d").in("Input", dequantized("x", 4)).in("Filter", weights("w1", 0, 32, 16, 3, 3))
                .out("Output", "a"));
        parameter("bias", normal(9, 32));
        step("b", OpDesc.of("elementwise_add").in("X", "a").in("Y", "bias").out("Out", "b").attr("axis", 1));
        step("c", OpDesc.of(activation).in("X", "b").out("Out", "c"));
        step("y", OpDesc.of("conv2d").in("Input", dequantized("c", 9)).in("Filter", weights("w2", 0, 8, 32, 1, 1))
                .out("Output", "y"));
        return "y";
    }

    private static boolean isFast() {
        return Kernels.system().list().stream().anyMatch(kernel -> kernel.provider().equals("onednn"));
    }

    @Test
    void convolutionsWriteLevels() {
        String y = images("relu");
        Tensor x = normal(1, 2, 16, 12, 12);
        if (isFast()) {
            assertEquals(1, stages(Quantize.class::isInstance, y, x), "only the image is quantized");
            assertEquals(0, stages(each -> each instanceof Unary unary && unary.function() == Unary.Function.RELU,
                    y, x));
        }
        assertNear(y, x);
    }

    @Test
    void productsWriteLevels() {
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 48)));
        step("a", OpDesc.of("matmul_v2").in("X", dequantized("x", 4)).in("Y", weights("w1", 1, 48, 64)).out("Out",
                "a"));
        step("b", OpDesc.of("gelu").in("X", "a").out("Out", "b"));
        step("y", OpDesc.of("matmul_v2").in("X", dequantized("b", 12)).in("Y", weights("w2", 1, 64, 20)).out("Out",
                "y"));
        Tensor x = normal(1, 30, 48);
        if (isFast()) {
            assertEquals(1, stages(Quantize.class::isInstance, "y", x));
        }
        assertNear("y", x);
    }

    @Test
    void whatOthersReadStaysFloat32() {
        images("relu");
        step("z", OpDesc.of("reduce_sum").in("X", "c").out("Out", "z").attr("reduce_all", true));
        step("t", OpDesc.of("elementwise_add").in("X", "y").in("Y", "z").out("Out", "t"));
        Tensor x = normal(1, 2, 16, 12, 12);
        assertEquals(2, stages(Quantize.class::isInstance, "t", x));
        assertNear("t", x);
    }
}

package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the golden cases of optimizers do not say: 16-bit parameters, Lars, and what is refused. */
class OptimizerOperationsTest {
    private final Map<String, Tensor> feeds = new HashMap<>();

    private void feed(String name, DType dtype, double... values) {
        feeds.put(name, Tensor.of(dtype, values, values.length));
    }

    private Map<String, Tensor> run(OpDesc.Builder op, String... fetches) {
        Program program = new Program();
        program.global().add(op.build());
        return Interpreter.of(Kernels.system()).run(program, feeds, List.of(fetches));
    }

    private void refused(OpDesc.Builder op, String... parts) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> run(op));
        for (String part : parts) {
            assertTrue(String.valueOf(refusal.getMessage()).contains(part), String.valueOf(refusal.getMessage()));
        }
    }

    private static OpDesc.Builder step(String type) {
        return OpDesc.of(type).in("Param", "p").in("Grad", "g").in("LearningRate", "lr").out("ParamOut", "p");
    }

    private static OpDesc.Builder adam(String type) {
        return step(type).in("Moment1", "m").in("Moment2", "v").in("Beta1Pow", "b1").in("Beta2Pow", "b2").out("Moment1Out", "m")
                .out("Moment2Out", "v").out("Beta1PowOut", "b1").out("Beta2PowOut", "b2");
    }

    private void adamState(DType dtype) {
        feed("m", dtype, 0.1, 0.2);
        feed("v", dtype, 0.3, 0.4);
        feed("b1", DType.FLOAT32, 0.9);
        feed("b2", DType.FLOAT32, 0.999);
    }

    @Test
    void theMasterIsStepped() {
        feed("p", DType.FLOAT16, 1, 2);
        feed("master", DType.FLOAT32, 1.0001, 2.0001);
        feed("g", DType.FLOAT16, 0.5, -1);
        feed("lr", DType.FLOAT32, 1e-4);
        Map<String, Tensor> results = run(
                step("sgd").in("MasterParam", "master").out("MasterParamOut", "master").attr("multi_precision", true), "p", "master");
        double[] master = {1.0001 - 0.5e-4, 2.0001 + 1e-4};
        assertArrayEquals(master, values(results, "master"), 1e-6);
        assertArrayEquals(master, values(results, "p"), 1e-3);
        assertEquals(DType.FLOAT16, results.getOrDefault("p", Tensor.of(new float[0], 0)).dtype());
    }

    private static double[] values(Map<String, Tensor> results, String name) {
        return results.getOrDefault(name, Tensor.of(new float[0], 0)).toDoubleArray();
    }

    @Test
    void masterAndAccumulatorsOfAdamAreFloat32() {
        feed("p", DType.BFLOAT16, 1, 2);
        feed("master", DType.FLOAT32, 1, 2);
        feed("g", DType.BFLOAT16, 0.5, -1);
        feed("lr", DType.FLOAT32, 0.1);
        adamState(DType.FLOAT32);
        Map<String, Tensor> mixed = run(
                adam("adam").in("MasterParam", "master").out("MasterParamOut", "master").attr("multi_precision", true), "p", "master");
        feed("p", DType.FLOAT32, 1, 2);
        feed("g", DType.FLOAT32, 0.5, -1);
        double[] single = values(run(adam("adam"), "p"), "p");
        assertArrayEquals(single, values(mixed, "master"), 1e-6);
        assertArrayEquals(single, values(mixed, "p"), 1e-2);
    }

    @Test
    void sixteenBitsAloneAreSteppedToo() {
        feed("p", DType.FLOAT16, 1, 2);
        feed("g", DType.FLOAT16, 0.5, -1);
        feed("lr", DType.FLOAT32, 0.5);
        adamState(DType.FLOAT16);
        Map<String, Tensor> results = run(adam("adam"), "p", "b1");
        assertEquals(DType.FLOAT16, results.getOrDefault("p", Tensor.of(new float[0], 0)).dtype());
        assertArrayEquals(new double[]{0.81}, values(results, "b1"), 1e-6);
    }

    @Test
    void aSkippedStepKeepsAll() {
        feed("p", DType.FLOAT32, 1, 2);
        feed("g", DType.FLOAT32, Double.NaN, -1);
        feed("lr", DType.FLOAT32, 0.5);
        adamState(DType.FLOAT32);
        feeds.put("skip", Tensor.of(DType.BOOL, new long[]{1}, 1));
        Map<String, Tensor> results = run(adam("adamw").in("SkipUpdate", "skip").attr("with_decay", true), "p", "m", "b2");
        assertArrayEquals(new double[]{1, 2}, values(results, "p"));
        assertArrayEquals(new double[]{0.1f, 0.2f}, values(results, "m"));
        assertArrayEquals(new double[]{0.999f}, values(results, "b2"));
    }

    /** You et al., 2017: the rate of a layer follows the quotient of the norms of parameter and gradient. */
    @Test
    void larsScalesTheRateByNorms() {
        feed("p", DType.FLOAT64, 3, 4);
        feed("g", DType.FLOAT64, 0.6, 0.8);
        feed("lr", DType.FLOAT64, 0.1);
        feed("v", DType.FLOAT64, 1, -1);
        Map<String, Tensor> results = run(step("lars_momentum").in("Velocity", "v").out("VelocityOut", "v").attr("mu", 0.9f)
                .attr("lars_coeff", 0.5f).attr("lars_weight_decay", new float[]{0.25f}).attr("epsilon", 0f), "p", "v");
        double rate = 0.1 * 0.5 * 5 / (1 + 0.25 * 5);
        double[] velocity = {0.9f + rate * (0.6 + 0.25 * 3), -0.9f + rate * (0.8 + 0.25 * 4)};
        assertArrayEquals(velocity, values(results, "v"), 1e-7);
        assertArrayEquals(new double[]{3 - velocity[0], 4 - velocity[1]}, values(results, "p"), 1e-7);
    }

    @Test
    void shapesMustFit() {
        feed("p", DType.FLOAT32, 1, 2);
        feed("g", DType.FLOAT32, 1, 2, 3);
        feed("lr", DType.FLOAT32, 0.1);
        refused(step("sgd"), "'sgd'", "Grad must have the parameter's shape [2], but has [3]");
        feed("g", DType.FLOAT32, 1, 2);
        feed("lr", DType.FLOAT32, 0.1, 0.2);
        refused(step("sgd"), "the learning rate must be one number, but are 2");
        feed("lr", DType.FLOAT32, 0.1);
        feed("v", DType.FLOAT32, 1);
        refused(step("momentum").in("Velocity", "v").out("VelocityOut", "v").attr("mu", 0.9f), "Velocity", "[1]");
        feed("v", DType.FLOAT32, 1, 2);
        refused(step("momentum").in("Velocity", "v").out("VelocityOut", "v"), "'mu' is not given");
    }

    @Test
    void centeredNeedsTheMeanGradient() {
        feed("p", DType.FLOAT32, 1, 2);
        feed("g", DType.FLOAT32, 1, 2);
        feed("lr", DType.FLOAT32, 0.1);
        feed("s", DType.FLOAT32, 1, 2);
        refused(step("rmsprop").in("Moment", "s").in("MeanSquare", "s").out("MomentOut", "s").out("MeanSquareOut", "s").attr("centered",
                true),
                "MeanGrad");
    }

    @Test
    void wholeNumbersAreNotTrained() {
        feed("p", DType.INT64, 1, 2);
        feed("g", DType.FLOAT32, 1, 2);
        feed("lr", DType.FLOAT32, 0.1);
        refused(step("sgd"), "floating-point", "int64");
    }

    @Test
    void theFlagToSkipIsBool() {
        feed("p", DType.FLOAT32, 1, 2);
        feed("g", DType.FLOAT32, 1, 2);
        feed("lr", DType.FLOAT32, 0.1);
        feed("skip", DType.FLOAT32, 1);
        adamState(DType.FLOAT32);
        refused(adam("adam").in("SkipUpdate", "skip"), "SkipUpdate must be bool");
    }
}

package io.seriatim.graph.ops.optimizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Optimizers beyond the golden cases: 16-bit parameters, Lars, and arguments that are refused. */
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
        return step(type).in("Moment1", "m").in("Moment2", "v").in("Beta1Pow", "b1").in("Beta2Pow", "b2")
                .out("Moment1Out", "m")
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
                step("sgd").in("MasterParam", "master").out("MasterParamOut", "master").attr("multi_precision", true),
                "p", "master");
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
                adam("adam").in("MasterParam", "master").out("MasterParamOut", "master").attr("multi_precision", true),
                "p", "master");
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

    private void skipped(boolean skip) {
        feeds.put("skip", Tensor.of(DType.BOOL, new long[]{skip ? 1 : 0}, 1));
    }

    /**
     * The variables that a step changes, and those that it leaves when it is skipped, for all ways in which it is
     * lowered.
     */
    private void comparesSkipped(OpDesc.Builder op, OpDesc.Builder skippable, String... changed) {
        Map<String, Tensor> before = Map.copyOf(feeds);
        Map<String, double[]> expected = new HashMap<>();
        Map<String, Tensor> plain = run(op, changed);
        for (String name : changed) {
            expected.put(name, values(plain, name));
        }
        for (boolean skip : new boolean[]{false, true}) {
            before.forEach((name, tensor) -> feeds.put(name, tensor));
            skipped(skip);
            Map<String, Tensor> results = run(skippable, changed);
            for (String name : changed) {
                double[] old = before.getOrDefault(name, Tensor.of(new float[0], 0)).toDoubleArray();
                assertArrayEquals(skip ? old : expected.get(name), values(results, name),
                        name + (skip ? ", skipped" : ""));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"adam", "adamw", "lamb"})
    void aSkippedStepKeepsAll(String type) {
        for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16)) {
            feed("p", dtype, 1, 2);
            feed("g", dtype, Double.NaN, -1);
            feed("lr", DType.FLOAT32, 0.5);
            adamState(dtype == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32);
            feed("b1t", DType.FLOAT32, 0.75);
            OpDesc.Builder[] steps = {adam(type), adam(type).in("SkipUpdate", "skip")};
            for (OpDesc.Builder step : steps) {
                step.attr("with_decay", type.equals("adamw"));
                if (type.equals("lamb")) {
                    step.attr("weight_decay", 0.01f);
                }
            }
            comparesSkipped(steps[0], steps[1], "p", "m", "v", "b1", "b2");
            if (!type.equals("lamb")) {
                comparesSkipped(adam(type).in("Beta1Tensor", "b1t"),
                        adam(type).in("Beta1Tensor", "b1t").in("SkipUpdate", "skip"), "p",
                        "m", "v", "b1", "b2");
            }
        }
    }

    @Test
    void aSkippedStepKeepsTheParameterOfAMaster() {
        feed("p", DType.BFLOAT16, 1, 2);
        feed("master", DType.FLOAT32, 1.5, 2.5);
        feed("g", DType.BFLOAT16, 0.5, -1);
        feed("lr", DType.FLOAT32, 0.5);
        adamState(DType.FLOAT32);
        OpDesc.Builder[] steps = {adam("adam"), adam("adam").in("SkipUpdate", "skip")};
        for (OpDesc.Builder step : steps) {
            step.in("MasterParam", "master").out("MasterParamOut", "master").attr("multi_precision", true);
        }
        comparesSkipped(steps[0], steps[1], "p", "master", "m", "v", "b1", "b2");
    }

    @Test
    void aSkippedStepWritesOtherOutputs() {
        feed("p", DType.FLOAT32, 1, 2);
        feed("g", DType.FLOAT32, 0.5, -1);
        feed("lr", DType.FLOAT32, 0.5);
        adamState(DType.FLOAT32);
        skipped(true);
        OpDesc.Builder op = OpDesc.of("adam").in("Param", "p").in("Grad", "g").in("LearningRate", "lr")
                .in("Moment1", "m")
                .in("Moment2", "v")
                .in("Beta1Pow", "b1").in("Beta2Pow", "b2").in("SkipUpdate", "skip").out("ParamOut", "q")
                .out("Moment1Out", "n")
                .out("Moment2Out", "w").out("Beta1PowOut", "c1").out("Beta2PowOut", "c2");
        Map<String, Tensor> results = run(op, "q", "n", "w", "c1", "c2");
        assertArrayEquals(new double[]{1, 2}, values(results, "q"));
        assertArrayEquals(new double[]{0.1f, 0.2f}, values(results, "n"));
        assertArrayEquals(new double[]{0.3f, 0.4f}, values(results, "w"));
        assertArrayEquals(new double[]{0.9f}, values(results, "c1"));
        assertArrayEquals(new double[]{0.999f}, values(results, "c2"));
    }

    @Test
    void gradientsAreScaledBackAndChecked() {
        OpDesc.Builder check = OpDesc.of("check_finite_and_unscale").in("X", "a", "b", "c").in("Scale", "scale")
                .out("Out", "a", "b", "c")
                .out("FoundInfinite", "found");
        double infinite = Double.POSITIVE_INFINITY;
        for (double last : new double[]{-6, infinite, Double.NaN}) {
            feed("a", DType.FLOAT32, 4, -8, 2);
            feed("b", DType.BFLOAT16, 0);
            feed("c", DType.FLOAT64, 12, last);
            feed("scale", DType.FLOAT32, 4);
            Map<String, Tensor> results = run(check, "a", "b", "c", "found");
            assertArrayEquals(new double[]{1, -2, 0.5}, values(results, "a"));
            assertArrayEquals(new double[]{0}, values(results, "b"));
            assertArrayEquals(new double[]{3, last / 4}, values(results, "c"));
            assertArrayEquals(new double[]{Double.isFinite(last) ? 0 : 1}, values(results, "found"));
        }
    }

    /** You et al., 2017: the rate of a layer follows the quotient of the norms of parameter and gradient. */
    @Test
    void larsScalesTheRateByNorms() {
        feed("p", DType.FLOAT64, 3, 4);
        feed("g", DType.FLOAT64, 0.6, 0.8);
        feed("lr", DType.FLOAT64, 0.1);
        feed("v", DType.FLOAT64, 1, -1);
        Map<String, Tensor> results = run(
                step("lars_momentum").in("Velocity", "v").out("VelocityOut", "v").attr("mu", 0.9f)
                        .attr("lars_coeff", 0.5f).attr("lars_weight_decay", new float[]{0.25f}).attr("epsilon", 0f),
                "p", "v");
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
        refused(step("rmsprop").in("Moment", "s").in("MeanSquare", "s").out("MomentOut", "s").out("MeanSquareOut", "s")
                .attr("centered",
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
        feeds.put("skip", Tensor.of(DType.BOOL, new long[]{1, 0}, 2));
        refused(adam("adam").in("SkipUpdate", "skip"), "SkipUpdate must be one element, but are 2");
    }
}

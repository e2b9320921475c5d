package io.seriatim.graph.ops.optimizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.ops.OneOperation;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rarer optimizers beyond the golden cases: 16-bit parameters, noise without a seed, and what is refused. */
class RarerOptimizersTest {
    private static OneOperation step(String type) {
        OneOperation op = new OneOperation(type).in("Param", DType.FLOAT32, 2, 3).in("Grad", DType.FLOAT32, 2, 3)
                .in("LearningRate", DType.FLOAT32, 1).out("ParamOut");
        return type.equals("ftrl")
                ? op.in("SquaredAccumulator", DType.FLOAT32, 2, 3).in("LinearAccumulator", DType.FLOAT32, 2, 3)
                        .out("SquaredAccumOut", "LinearAccumOut")
                : type.equals("decayed_adagrad") ? op.in("Moment", DType.FLOAT32, 2, 3).out("MomentOut") : op;
    }

    @ParameterizedTest
    @ValueSource(strings = {"decayed_adagrad", "proximal_gd", "ftrl", "dpsgd"})
    void argumentsMustFit(String type) {
        assertEquals(ArgType.dense(DType.FLOAT32, 2, 3), step(type).inferred("ParamOut"));
        step(type).in("Grad", DType.FLOAT32, 3, 2).isRefused("Grad must have the parameter's shape", "[3, 2]");
        step(type).in("Grad", DType.INT64, 2, 3).isRefused("the gradient", "int64");
        step(type).in("Grad", ArgType.rows(DType.FLOAT32, 1, 2, 3)).isRefused("all rows", "rows of");
        step(type).in("LearningRate", DType.FLOAT32, 2).isRefused("the learning rate must be one number", "2");
    }

    @Test
    void attributesMustMakeSense() {
        step("dpsgd").attr("batch_size", 0f).isRefused("batch_size must be above 0", "0.0");
        step("dpsgd").attr("clip", -1f).isRefused("clip must be above 0", "-1.0");
    }

    private static OneOperation merged(String type) {
        OneOperation op = new OneOperation(type).in("Param", DType.FLOAT32, 2, 3).in("Grad", DType.FLOAT32, 2, 3)
                .in("LearningRate", DType.FLOAT32, 1).out("ParamOut");
        return type.equals("merged_momentum")
                ? op.in("Velocity", DType.FLOAT32, 2, 3).attr("mu", 0.9f).out("VelocityOut")
                : op.in("Moment1", DType.FLOAT32, 2, 3).in("Moment2", DType.FLOAT32, 2, 3)
                        .in("Beta1Pow", DType.FLOAT32, 1).in("Beta2Pow", DType.FLOAT32, 1)
                        .out("Moment1Out", "Moment2Out", "Beta1PowOut", "Beta2PowOut");
    }

    @ParameterizedTest
    @ValueSource(strings = {"merged_adam", "merged_momentum"})
    void argumentsOfSeveralMustFit(String type) {
        merged(type).in("Grad", DType.FLOAT32, 3).isRefused("variable 0 of Grad", "[2, 3]");
        merged(type).in("Grad", ArgType.rows(DType.FLOAT32, 1, 2, 3)).isRefused("variable 0 of Grad");
        merged(type).in("LearningRate", DType.FLOAT32, 3).isRefused("variable 0 of LearningRate must be one number");
        merged("merged_momentum").attr("regularization_method", new String[]{"l2_decay", ""}).isRefused(
                "regularization_method and regularization_coeff", "2 and 0");
    }

    @Test
    void countsMustFit() {
        OpDesc op = OpDesc.of("merged_momentum").in("Param", "p", "p").in("Grad", "g").in("Velocity", "v", "v")
                .in("LearningRate", "lr").out("ParamOut", "p", "p").out("VelocityOut", "v", "v").attr("mu", 0.9f)
                .build();
        SmallProgram.refused(op, Map.of("p", one(1), "g", one(1), "v", one(1), "lr", one(1)),
                "as many variables in Grad as in Param, 2, but are 1");
    }

    private static Tensor one(float value) {
        return Tensor.of(new float[]{value}, 1);
    }

    private static OpDesc.Builder dpsgd() {
        return OpDesc.of("dpsgd").in("Param", "p").in("Grad", "g").in("LearningRate", "lr").out("ParamOut", "q")
                .attr("batch_size", 1f);
    }

    /** All elements get the same number, another one in each run. */
    @Test
    void noiseWithoutASeedIsNewInEachRun() {
        Map<String, Tensor> feeds = Map.of("p", Tensor.of(new float[]{0, 0, 0}, 3), "g",
                Tensor.of(new float[]{0, 0, 0}, 3), "lr", one(1));
        Interpreter interpreter = Interpreter.of(Kernels.system());
        Program program = SmallProgram.program(dpsgd().build());
        double squares = 0;
        double sum = 0;
        int runs = 2000;
        double[] last = {Double.NaN};
        for (int i = 0; i < runs; i++) {
            double[] noise = SmallProgram.run(interpreter, program, feeds, "q").toDoubleArray();
            assertArrayEquals(new double[]{noise[0], noise[0], noise[0]}, noise);
            assertFalse(Arrays.equals(last, noise));
            sum += noise[0];
            squares += noise[0] * noise[0];
            last = noise;
        }
        assertEquals(0, sum / runs, 0.12);
        assertEquals(1, squares / runs, 0.2);
    }

    @Test
    void halfPrecisionIsSteppedInSinglePrecision() {
        Map<String, Tensor> feeds = Map.of("p", Tensor.of(DType.FLOAT16, new double[]{1, -2}, 2), "g",
                Tensor.of(DType.FLOAT16, new double[]{0.5, 4}, 2), "lr",
                Tensor.of(DType.FLOAT32, new double[]{0.5}, 1));
        Program program = SmallProgram.program(OpDesc.of("proximal_gd").in("Param", "p").in("Grad", "g")
                .in("LearningRate", "lr").out("ParamOut", "p").attr("l1", 1f).attr("l2", 2f).build());
        Tensor stepped = Objects.requireNonNull(
                Interpreter.of(Kernels.system()).run(program, feeds, List.of("p")).get("p"));
        assertEquals(DType.FLOAT16, stepped.dtype());
        assertArrayEquals(new double[]{(0.75 - 0.5) / 2, -(4 - 0.5) / 2}, stepped.toDoubleArray(), 1e-3);
    }
}

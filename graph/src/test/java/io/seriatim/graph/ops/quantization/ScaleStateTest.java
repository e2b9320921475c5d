package io.seriatim.graph.ops.quantization;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Scales that operations keep from one batch to the next in variables that they name only as outputs. */
class ScaleStateTest {
    private static final float EXACT = 0;

    private static Program keeping(OpDesc op, String... persistables) {
        Program program = SmallProgram.program(op);
        for (String name : persistables) {
            program.global().put(VarDesc.of(name, VarType.dense(DType.FLOAT32, 1)).persistent());
        }
        return program;
    }

    private static float[] run(Interpreter interpreter, Program program, Map<String, Tensor> feeds, String fetch) {
        return SmallProgram.run(interpreter, program, feeds, fetch).toFloatArray();
    }

    /** The largest magnitude of the last two batches; it stays until it leaves the window. */
    @Test
    void theWindowForgetsItsOldestScale() {
        OpDesc op = OpDesc.of("fake_quantize_range_abs_max").in("X", "x").in("InScale", "scale").in("Iter", "step")
                .out("Out", "y").out("OutScale", "scale").out("OutScales", "window").attr("window_size", 2).build();
        Program program = keeping(op, "scale", "window");
        Interpreter interpreter = Interpreter.of(Kernels.system()).set("scale", Tensor.of(new float[]{0.001f}, 1))
                .set("window", Tensor.of(new float[]{0, 0}, 2));
        float[] batches = {4, 2, 1, 3};
        float[] scales = {4, 4, 2, 3};
        for (int i = 0; i < batches.length; i++) {
            Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[]{batches[i]}, 1), "step",
                    Tensor.of(new long[]{i}, 1));
            assertArrayEquals(new float[]{scales[i]}, run(interpreter, program, feeds, "scale"), EXACT);
        }
        assertArrayEquals(new float[]{1, 3}, interpreter.get("window").toFloatArray(), EXACT);
    }

    @Test
    void aTestUsesTheScalesOfTraining() {
        OpDesc.Builder op = OpDesc.of("fake_channel_wise_quantize_abs_max").in("X", "x").out("Out", "y")
                .out("OutScale", "scale");
        Program test = keeping(op.attr("is_test", true).build(), "scale");
        Interpreter interpreter = Interpreter.of(Kernels.system()).set("scale", Tensor.of(new float[]{127, 254}, 2));
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[]{3, 500, 4, -10}, 2, 2));
        assertArrayEquals(new float[]{3, 127, 2, -5}, run(interpreter, test, feeds, "y"), EXACT);
        assertArrayEquals(new float[]{127, 254}, interpreter.get("scale").toFloatArray(), EXACT);
    }

    @Test
    void aTestLeavesAveragesAsTheyAre() {
        OpDesc op = OpDesc.of("moving_average_abs_max_scale").in("X", "x").out("Out", "y").out("OutScale", "scale")
                .out("OutState", "state").attr("is_test", true).build();
        Interpreter interpreter = Interpreter.of(Kernels.system()).set("scale", Tensor.of(new float[]{5}, 1));
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[]{9, -10}, 2));
        assertArrayEquals(new float[]{9, -10}, run(interpreter, keeping(op, "scale"), feeds, "y"), EXACT);
        assertArrayEquals(new float[]{5}, interpreter.get("scale").toFloatArray(), EXACT);
        // A program that names another variable for the scale leaves it without a value.
        assertArrayEquals(new float[]{9, -10},
                run(Interpreter.of(Kernels.system()), SmallProgram.program(op), feeds, "y"), EXACT);
    }

    /** d(y²)/dx = 2y, of which the gradient passes through again: 2. */
    @Test
    void gradientsPassThroughTwice() {
        Network network = Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, 3).wantGradient();
            Value y = g.op("fake_quantize_dequantize_abs_max").in("X", x).all("Out", "OutScale").getFirst();
            Value first = Objects.requireNonNull(g.gradients(List.of(y.times(y)), List.of(x)).getFirst());
            Value second = Objects.requireNonNull(g.gradients(List.of(first), List.of(x)).getFirst());
            return Outputs.of("first", first, "second", second);
        });
        Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(network.main(),
                Map.of("x", Tensor.of(new float[]{127, 2.4f, -100.6f}, 3)),
                List.of(network.outputs().get("first").name(), network.outputs().get("second").name()));
        assertArrayEquals(new float[]{254, 4, -202}, result(network, results, "first"), EXACT);
        assertArrayEquals(new float[]{2, 2, 2}, result(network, results, "second"), EXACT);
    }

    private static float[] result(Network network, Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(network.outputs().get(name).name())).toFloatArray();
    }
}

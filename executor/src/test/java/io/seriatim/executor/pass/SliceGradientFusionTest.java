package io.seriatim.executor.pass;

import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.graph.interpret.Interpreter;
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

/** Sums of gradients that are zero but for a part, next to sums that look alike. */
class SliceGradientFusionTest {
    private static Program program(OpDesc... ops) {
        Program program = new Program();
        for (String name : List.of("x", "dx", "ds", "a", "b", "sum", "y")) {
            program.global().put(VarDesc.of(name,
                    name.equals("ds") ? VarType.dense(DType.FLOAT32, 4, 2) : VarType.dense(DType.FLOAT32, 4, 3)));
        }
        List.of(ops).forEach(program.global()::add);
        return program;
    }

    private static OpDesc sliceGradient(String to, int start, int end) {
        return OpDesc.of("slice_grad").in("Input", "x").in("Out@GRAD", "ds").out("Input@GRAD", to)
                .attr("axes", new int[]{1}).attr("starts", new int[]{start}).attr("ends", new int[]{end}).build();
    }

    private static void computesTheSame(OpDesc first, OpDesc second) {
        Program program = program(first, second, OpDesc.of("sum").in("X", "a", "b").out("Out", "sum").build(),
                OpDesc.of("softmax").in("X", "sum").out("Out", "y").build());
        Map<String, Tensor> feeds = Map.of("x", Bits.normal(1, 4, 3), "dx", Bits.normal(2, 4, 3), "ds",
                Bits.normal(3, 4, 2));
        double[] expected = Objects.requireNonNull(
                Interpreter.of(Kernels.system()).run(program, feeds, List.of("y")).get("y")).toDoubleArray();
        try (Executor executor = Executor.builder().ignoreUnknownFeeds().build()) {
            assertArrayEquals(expected, executor.run(program, feeds, fetches("y")).get("y").toDoubleArray());
        }
    }

    /** The gradient of a value of which a part was set is copied, and then zero in that part. */
    @Test
    void aCopyWithAZeroPartIsNotASliceGradient() {
        OpDesc set = OpDesc.of("set_value_grad").in("Out@GRAD", "dx").out("Input@GRAD", "a")
                .attr("axes", new long[]{1}).attr("starts", new long[]{1}).attr("ends", new long[]{3})
                .attr("steps", new long[]{1}).attr("shape", new long[]{1}).build();
        computesTheSame(set, sliceGradient("b", 1, 3));
        computesTheSame(sliceGradient("a", 1, 3), OpDesc.of("assign").in("X", "dx").out("Out", "b").build());
    }

    @Test
    void partsThatOverlapAreAdded() {
        computesTheSame(sliceGradient("a", 0, 2), sliceGradient("b", 1, 3));
    }
}

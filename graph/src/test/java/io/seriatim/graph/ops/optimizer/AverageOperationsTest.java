package io.seriatim.graph.ops.optimizer;

import static io.seriatim.graph.ops.SmallProgram.program;
import static io.seriatim.graph.ops.SmallProgram.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Sums for averages of parameters that go to other variables than they come from. */
class AverageOperationsTest {
    private static OpDesc.Builder sums() {
        OpDesc.Builder builder = OpDesc.of("average_accumulates").in("param", "w").attr("average_window", 1f)
                .attr("min_average_window", 2L).attr("max_average_window", 3L);
        for (String each : List.of("sum_1", "sum_2", "sum_3", "num_accumulates", "old_num_accumulates",
                "num_updates")) {
            builder.in("in_" + each, each).out("out_" + each, each + ".after");
        }
        return builder;
    }

    private static Map<String, Tensor> feeds(long counted, double... sum) {
        return Map.of("w", Tensor.of(new double[]{1, 2}, 2), "sum_1", Tensor.of(sum, sum.length), "sum_2",
                Tensor.of(new double[]{10, 10}, 2), "sum_3", Tensor.of(new double[]{7, 7}, 2), "num_accumulates",
                Tensor.of(new long[]{counted}, 1), "old_num_accumulates", Tensor.of(new long[]{9}, 1), "num_updates",
                Tensor.of(new long[]{20}, 1));
    }

    /** A full window has what this step adds. */
    @Test
    void fullWindows() {
        Map<String, Tensor> feeds = feeds(2, 5, 6);
        Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(program(sums().build()), feeds,
                List.of("sum_1.after", "sum_3.after", "old_num_accumulates.after", "num_accumulates.after", "sum_1"));
        assertArrayEquals(new double[]{16, 18}, value(results, "sum_3.after"));
        assertArrayEquals(new double[]{0, 0}, value(results, "sum_1.after"));
        assertEquals(3, value(results, "old_num_accumulates.after")[0]);
        assertEquals(0, value(results, "num_accumulates.after")[0]);
        assertArrayEquals(new double[]{5, 6}, value(results, "sum_1"));
    }

    private static double[] value(Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(name)).toDoubleArray();
    }

    @Test
    void whatDoesNotFitIsRefused() {
        refused(sums().build(), feeds(2, 5, 6, 7), "'average_accumulates'", "3");
        refused(sums().attr("min_average_window", 5L).build(), feeds(2, 5, 6),
                "min_average_window 5 must not be above max_average_window 3");
    }
}

package io.seriatim.graph.ops.metric;

import static io.seriatim.graph.ops.SmallProgram.program;
import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.graph.ops.SmallProgram.run;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Metrics beyond the golden data. */
class MetricOperationsTest {
    private static OpDesc.Builder auc() {
        return OpDesc.of("auc").in("Predict", "x").in("Label", "label").in("StatPos", "p").in("StatNeg", "n")
                .out("AUC", "y")
                .out("StatPosOut", "after").out("StatNegOut", "n").attr("num_thresholds", 3).attr("slide_steps", 0);
    }

    private static Map<String, Tensor> feeds(double probability) {
        return Map.of("x", Tensor.of(new double[]{0.1, probability, 0.6}, 3, 1), "label",
                Tensor.of(DType.INT32, new long[]{0, 1, 0}, 3),
                "p",
                Tensor.of(new long[4], 1, 4), "n", Tensor.of(new long[4], 1, 4), "weight",
                Tensor.of(new float[]{0}, 1));
    }

    /** The positive sample is above both others, or in the range of one of them, which counts half. */
    @Test
    void areaIsHowOftenPositivesAreAbove() {
        assertEquals(1, run(auc().build(), feeds(1), "y").toDoubleArray()[0]);
        assertEquals(0.75, run(auc().build(), feeds(0.4), "y").toDoubleArray()[0]);
    }

    @Test
    void batchesThatAreNoneDoNotCount() {
        OpDesc fake = auc().in("InsTagWeight", "weight").build();
        assertArrayEquals(new long[4], run(fake, feeds(1), "after").toLongArray());
        assertEquals(0, run(fake, feeds(1), "y").toDoubleArray()[0]);
    }

    /** The second output is another variable than its input, which stays as it is. */
    @Test
    void statisticsMayGoElsewhere() {
        Map<String, Tensor> feeds = feeds(1);
        Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(program(auc().build()), feeds,
                List.of("after", "p"));
        assertArrayEquals(new long[]{0, 0, 0, 1}, Objects.requireNonNull(results.get("after")).toLongArray());
        assertArrayEquals(new long[4], Objects.requireNonNull(results.get("p")).toLongArray());
    }

    @Test
    void whatIsNoProbabilityIsRefused() {
        refused(auc().build(), feeds(1.5), "'auc'", "from 0 to 1", "sample 1 is 1.5");
        refused(auc().build(), feeds(Double.NaN), "'auc'", "NaN");
    }

    @Test
    void otherBucketsAreRefused() {
        refused(auc().attr("num_thresholds", 4).build(), feeds(1), "StatPos", "5 elements", "with 4");
        refused(auc().attr("slide_steps", -1).build(), feeds(1), "slide_steps must be 0 or more, but is -1");
    }
}

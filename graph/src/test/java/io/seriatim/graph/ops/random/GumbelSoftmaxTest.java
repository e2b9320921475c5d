package io.seriatim.graph.ops.random;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.graph.ops.SmallProgram.run;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Softmax with noise that is the run-time's own, not Paddle's. */
class GumbelSoftmaxTest {
    private static final int ROWS = 20_000;

    private static Map<String, Tensor> logits() {
        double[] logits = new double[2 * ROWS];
        Arrays.setAll(logits, i -> i % 2 == 0 ? 0 : Math.log(3));
        return Map.of("x", Tensor.of(logits, ROWS, 2));
    }

    private static OpDesc.Builder softmax() {
        return OpDesc.of("gumbel_softmax").in("X", "x").out("Out", "y");
    }

    /** A class is the largest as often as its probability says: three times in four. */
    @Test
    void hardResultsAreDraws() {
        double[] y = run(softmax().attr("hard", true).build(), logits(), "y").toDoubleArray();
        double second = 0;
        for (int i = 0; i < y.length; i += 2) {
            assertEquals(1, y[i] + y[i + 1]);
            assertEquals(0, y[i] * y[i + 1]);
            second += y[i + 1];
        }
        assertEquals(0.75, second / ROWS, 0.02);
    }

    @Test
    void softResultsAreProbabilities() {
        double[] y = run(softmax().attr("temperature", 0.5f).build(), logits(), "y").toDoubleArray();
        for (int i = 0; i < y.length; i += 2) {
            assertEquals(1, y[i] + y[i + 1], 1e-12);
        }
    }

    @Test
    void temperaturesOfZeroAreRefused() {
        refused(softmax().attr("temperature", 0f).build(), logits(), "'gumbel_softmax'",
                "temperature must be above 0, but is 0.0");
    }
}

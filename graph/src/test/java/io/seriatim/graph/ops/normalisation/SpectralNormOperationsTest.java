package io.seriatim.graph.ops.normalisation;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.graph.ops.SmallProgram.run;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Spectral normalisation beyond the golden data. */
class SpectralNormOperationsTest {
    private static final double[] WEIGHT = {0.5, -1, 2, 1.5, 0.25, -0.75};
    private static final double[] DOUT = {1, 0.5, -2, 0.25, 3, -1};

    private static OpDesc.Builder norm(int iterations) {
        return OpDesc.of("spectral_norm").in("Weight", "w").in("U", "u").in("V", "v").out("Out", "y").attr("dim", 1)
                .attr("power_iters", iterations);
    }

    private static Map<String, Tensor> feeds(double[] weight) {
        return Map.of("w", Tensor.of(weight, 2, 3), "u", Tensor.of(new double[]{0.6, 0.3, 0.9}, 3), "v",
                Tensor.of(new double[]{1, -0.4}, 2),
                "dy", Tensor.of(DOUT, 2, 3));
    }

    /** Without iterations the vectors are constants, so that the gradient is what differences say; Paddle's is not. */
    @Test
    void gradientIsThatOfDifferences() {
        OpDesc gradient = OpDesc.of("spectral_norm_grad").in("U", "u").in("V", "v").in("Weight", "w")
                .in("Out@GRAD", "dy")
                .out("Weight@GRAD", "dw").attr("dim", 1).attr("power_iters", 0).build();
        double[] found = run(gradient, feeds(WEIGHT), "dw").toDoubleArray();
        for (int i = 0; i < found.length; i++) {
            assertEquals((loss(i, 1e-5) - loss(i, -1e-5)) / 2e-5, found[i], 1e-7, "element " + i);
        }
    }

    private static double loss(int at, double step) {
        double[] weight = WEIGHT.clone();
        weight[at] += step;
        double[] y = run(norm(0).build(), feeds(weight), "y").toDoubleArray();
        double sum = 0;
        for (int i = 0; i < y.length; i++) {
            sum += y[i] * DOUT[i];
        }
        return sum;
    }

    /** A matrix of two orthogonal rows, of which one is the longer. */
    @Test
    void manyIterationsFindTheLargestSingularValue() {
        double[] y = run(norm(60).build(), feeds(new double[]{3, 0, 4, 0, 2, 0}), "y").toDoubleArray();
        assertEquals(0.6, y[0], 1e-12);
        assertEquals(0.4, y[4], 1e-12);
    }

    @Test
    void vectorsOfOtherSizesAreRefused() {
        refused(norm(1).attr("dim", 0).build(), feeds(WEIGHT), "'spectral_norm'", "U must have 2 elements, but has 3");
        refused(norm(-1).build(), feeds(WEIGHT), "power_iters must be 0 or more, but is -1");
    }
}

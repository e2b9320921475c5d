package io.seriatim.graph.ops.fused;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.OneRun;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fused operations that PaddlePaddle has for graphics processors only, compared with their formulas. */
class FusedOperationsTest {
    private static final double TOLERANCE = 1e-9;

    private static Tensor random(SplittableRandom random, long... dims) {
        return OneRun.random(random, DType.FLOAT64, dims);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void attentionOfSeveralHeads(boolean masked) {
        int batch = 2;
        int steps = 3;
        int inputs = 5;
        int heads = 2;
        int width = 4;
        double alpha = 0.5;
        SplittableRandom random = new SplittableRandom(3);
        Tensor x = random(random, batch, steps, inputs);
        Tensor w = random(random, inputs, 3, heads, width);
        Tensor b = random(random, 3, heads, width);
        Tensor mask = random(random, batch, heads, steps, steps);
        OpDesc.Builder op = OpDesc.of("multihead_matmul").in("Input", "x").in("W", "w").in("Bias", "b").out("Out", "y")
                .attr("alpha", (float) alpha).attr("head_number", heads);
        Map<String, Tensor> feeds = Map.of("x", x, "w", w, "b", b, "mask", mask);
        double[] found = OneRun.values(OneRun.of(feeds, (masked ? op.in("BiasQK", "mask") : op).build()), "y");
        double[] expected = new double[batch * steps * heads * width];
        for (int n = 0; n < batch; n++) {
            for (int h = 0; h < heads; h++) {
                double[][][] parts = new double[3][steps][width];
                for (int part = 0; part < 3; part++) {
                    for (int s = 0; s < steps; s++) {
                        for (int k = 0; k < width; k++) {
                            parts[part][s][k] = b.getDouble(part, h, k);
                            for (int i = 0; i < inputs; i++) {
                                parts[part][s][k] += x.getDouble(n, s, i) * w.getDouble(i, part, h, k);
                            }
                        }
                    }
                }
                for (int s = 0; s < steps; s++) {
                    double[] weights = new double[steps];
                    double sum = 0;
                    for (int t = 0; t < steps; t++) {
                        double score = masked ? mask.getDouble(n, h, s, t) : 0;
                        for (int k = 0; k < width; k++) {
                            score += alpha * parts[0][s][k] * parts[1][t][k];
                        }
                        weights[t] = Math.exp(score);
                        sum += weights[t];
                    }
                    for (int t = 0; t < steps; t++) {
                        for (int k = 0; k < width; k++) {
                            expected[((n * steps + s) * heads + h) * width + k] += weights[t] / sum * parts[2][t][k];
                        }
                    }
                }
            }
        }
        assertArrayEquals(expected, found, TOLERANCE);
    }

    @Test
    void aSumIsNormalised() {
        int rows = 3;
        int width = 4;
        float epsilon = 1e-3f;
        SplittableRandom random = new SplittableRandom(4);
        Tensor x = random(random, rows, 2, 2);
        Tensor y = random(random, rows, 2, 2);
        Tensor scale = random(random, width);
        Tensor bias = random(random, width);
        OpDesc op = OpDesc.of("skip_layernorm").in("X", "x").in("Y", "y").in("Scale", "scale").in("Bias", "bias")
                .out("Out", "out").attr("epsilon", epsilon).attr("begin_norm_axis", 1).build();
        double[] found = OneRun.values(OneRun.of(Map.of("x", x, "y", y, "scale", scale, "bias", bias), op), "out");
        double[] a = x.toDoubleArray();
        double[] b = y.toDoubleArray();
        double[] expected = new double[rows * width];
        for (int i = 0; i < rows; i++) {
            double mean = 0;
            double square = 0;
            for (int j = i * width; j < (i + 1) * width; j++) {
                mean += (a[j] + b[j]) / width;
                square += (a[j] + b[j]) * (a[j] + b[j]) / width;
            }
            for (int k = 0; k < width; k++) {
                int j = i * width + k;
                expected[j] = (a[j] + b[j] - mean) / Math.sqrt(square - mean * mean + epsilon) * scale.getDouble(k)
                        + bias.getDouble(k);
            }
        }
        assertArrayEquals(expected, found, TOLERANCE);
    }
}

package io.seriatim.graph.ops.recommendation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.OneRun;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Losses and draws that PaddlePaddle has for graphics processors only, or draws otherwise in each run. */
class SampledOperationsTest {
    private static double loss(double[] logits, int label, double factor, double angle, double offset, double scale) {
        double sum = 0;
        double right = 0;
        for (int i = 0; i < logits.length; i++) {
            double logit = logits[i];
            if (i == label) {
                logit = Math.cos(factor * Math.acos(logit) + angle) - offset;
                right = logit;
            }
            sum += Math.exp(scale * logit);
        }
        return Math.log(sum) - scale * right;
    }

    /** The gradient is compared with differences. */
    @ParameterizedTest
    @CsvSource({"1, 0.5, 0, 4", "1, 0, 0.25, 8", "1.25, 0.125, 0.5, 2", "1, 0, 0, 1"})
    void marginsOfCosines(float factor, float angle, float offset, float scale) {
        double[] values = {0.1, -0.4, 0.3, 0.6, 0.2, -0.1};
        int[] labels = {2, 0};
        Map<String, Tensor> feeds =
                Map.of("x", Tensor.of(values, 2, 3), "label", Tensor.of(new long[]{2, 0}, 2, 1), "dy",
                        Tensor.of(new double[]{1, -2}, 2, 1));
        OpDesc forward = OpDesc.of("margin_cross_entropy").in("Logits", "x").in("Label", "label").out("Softmax", "p")
                .out("Loss", "loss").attr("margin1", factor).attr("margin2", angle).attr("margin3", offset)
                .attr("scale", scale).build();
        OpDesc backward =
                OpDesc.of("margin_cross_entropy_grad").in("Logits", "x").in("Label", "label").in("Softmax", "p")
                        .in("Loss@GRAD", "dy").out("Logits@GRAD", "dx").attr("margin1", factor).attr("margin2", angle)
                        .attr("margin3", offset).attr("scale", scale).build();
        Map<String, Tensor> results = OneRun.of(feeds, forward, backward);
        double[] losses = new double[2];
        double[] slopes = new double[6];
        double step = 1e-6;
        for (int i = 0; i < 2; i++) {
            double[] row = Arrays.copyOfRange(values, 3 * i, 3 * i + 3);
            losses[i] = loss(row, labels[i], factor, angle, offset, scale);
            for (int j = 0; j < 3; j++) {
                double[] more = row.clone();
                double[] less = row.clone();
                more[j] += step;
                less[j] -= step;
                slopes[3 * i + j] = (i == 0 ? 1 : -2) * (loss(more, labels[i], factor, angle, offset, scale)
                        - loss(less, labels[i], factor, angle, offset, scale)) / (2 * step);
            }
        }
        assertArrayEquals(losses, OneRun.values(results, "loss"), 1e-6);
        assertArrayEquals(slopes, OneRun.values(results, "dx"), 1e-5);
        double[] softmax = OneRun.values(results, "p");
        assertEquals(1, softmax[0] + softmax[1] + softmax[2], 1e-6);
    }

    private static OpDesc.Builder top() {
        return OpDesc.of("top_p_sampling").in("x", "x").in("ps", "ps").out("out", "p").out("ids", "ids");
    }

    /** Only categories that are needed to reach a probability are drawn, as often as their probabilities say. */
    @Test
    void drawsTheMostProbableCategories() {
        int rows = 4000;
        double[] probabilities = {0.1, 0.4, 0.05, 0.3, 0.15};
        double[] all = new double[rows * 5];
        Arrays.setAll(all, i -> probabilities[i % 5]);
        double[] ps = new double[rows];
        Arrays.fill(ps, 0.7);
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(all, rows, 5), "ps", Tensor.of(ps, rows, 1));
        Map<String, Tensor> results = OneRun.of(feeds, top().attr("seed", 5).build());
        long[] counts = new long[5];
        long[] ids = OneRun.get(results, "ids").toLongArray();
        double[] chosen = OneRun.values(results, "p");
        for (int i = 0; i < rows; i++) {
            counts[(int) ids[i]]++;
            assertEquals(probabilities[(int) ids[i]], chosen[i]);
        }
        assertEquals(0, counts[0] + counts[2] + counts[4]);
        assertEquals(4.0 / 7, counts[1] / (double) rows, 0.03);
    }

    @Test
    void aThresholdLeavesTheMostProbableCategory() {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[]{0.2, 0.5, 0.3, 0.4, 0.35, 0.25}, 2, 3), "ps",
                Tensor.of(new double[]{1, 1}, 2, 1), "least", Tensor.of(new double[]{0.45, 0.9}, 2, 1));
        assertArrayEquals(new long[]{1, 0},
                OneRun.get(OneRun.of(feeds, top().in("threshold", "least").build()), "ids").toLongArray());
    }

    /** Without a seed, other classes are drawn each time; all are classes, and each at most once. */
    @Test
    void centersWithoutASeedAreDistinctClasses() {
        Map<String, Tensor> feeds = Map.of("label", Tensor.of(new long[]{7, 3, 7}, 3));
        OpDesc op = OpDesc.of("class_center_sample").in("Label", "label").out("RemappedLabel", "remapped")
                .out("SampledLocalClassCenter", "sampled").attr("num_classes", 40).attr("num_samples", 12).build();
        Map<String, Tensor> results = OneRun.of(feeds, op);
        long[] sampled = OneRun.get(results, "sampled").toLongArray();
        assertArrayEquals(new long[]{1, 0, 1}, OneRun.get(results, "remapped").toLongArray());
        assertArrayEquals(new long[]{3, 7}, Arrays.copyOf(sampled, 2));
        assertEquals(12, Arrays.stream(sampled).distinct().count());
        assertTrue(Arrays.stream(sampled).allMatch(each -> each >= 0 && each < 40));
    }

    /** The gradient of a table is of some rows where it is sparse; summed, they are the dense gradient. */
    @ParameterizedTest
    @CsvSource({"nce", "hierarchical_sigmoid"})
    void sparseGradientsAreTheDenseOnes(String type) {
        SplittableRandom random = new SplittableRandom(6);
        boolean sampled = type.equals("nce");
        Map<String, Tensor> feeds = Map.of("x", OneRun.random(random, DType.FLOAT64, 3, 2), "w",
                OneRun.random(random, DType.FLOAT64, 6, 2), "label", Tensor.of(new long[]{1, 4, 1}, 3, 1), "dy",
                OneRun.random(random, DType.FLOAT64, 3, 1), "rate", Tensor.of(new double[]{-1}, 1), "zero",
                Tensor.of(new double[12], 6, 2));
        double[][] gradients = new double[2][];
        for (int sparse = 0; sparse < 2; sparse++) {
            OpDesc.Builder forward = OpDesc.of(type).in("Label", "label").attr("is_sparse", sparse == 1);
            OpDesc.Builder backward = OpDesc.of(type + "_grad").in("Label", "label").attr("is_sparse", sparse == 1);
            if (sampled) {
                forward.in("Input", "x").in("Weight", "w").out("Cost", "y").out("SampleLogits", "logits")
                        .out("SampleLabels", "samples").attr("num_total_classes", 6).attr("num_neg_samples", 3)
                        .attr("seed", 9);
                backward.in("Input", "x").in("Weight", "w").in("SampleLogits", "logits").in("SampleLabels", "samples")
                        .in("Cost@GRAD", "dy").out("Weight@GRAD", "dw").attr("num_total_classes", 6)
                        .attr("num_neg_samples", 3).attr("seed", 9);
            } else {
                forward.in("X", "x").in("W", "w").out("Out", "y").out("PreOut", "pre").attr("num_classes", 7);
                backward.in("X", "x").in("W", "w").in("PreOut", "pre").in("Out@GRAD", "dy").out("W@GRAD", "dw")
                        .attr("num_classes", 7);
            }
            Map<String, Tensor> results = sparse == 0
                    ? OneRun.of(feeds, forward.build(), backward.build())
                    : OneRun.of(feeds, forward.build(), backward.build(),
                            OpDesc.of("sgd").in("Param", "zero").in("Grad", "dw").in("LearningRate", "rate")
                                    .out("ParamOut", "after").build());
            gradients[sparse] = OneRun.values(results, sparse == 0 ? "dw" : "after");
        }
        assertArrayEquals(gradients[0], gradients[1], 1e-12);
    }
}

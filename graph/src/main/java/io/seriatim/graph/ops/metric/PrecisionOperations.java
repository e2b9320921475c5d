package io.seriatim.graph.ops.metric;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Precision and recall of a classifier, of a batch and of all batches so far. */
public final class PrecisionOperations {
    private static final String TYPE = "precision_recall";

    /** What is counted for each class: true and false positives, true and false negatives. */
    private static final int COUNTERS = 4;

    /** Precision, recall and F1, as means over the classes, and over all samples. */
    private static final int METRICS = 6;

    private PrecisionOperations() {
    }

    public static void register(Operations registry) {
        Operation.define(TYPE).in("MaxProbs", "Indices", "Labels", "Weights?", "StatesInfo?")
                .out("BatchMetrics", "AccumMetrics", "AccumStatesInfo").required("class_number", Attribute.Int.class)
                .infer(inference -> {
                    Checks.floating(inference, "MaxProbs");
                    Checks.whole(inference, "Indices", "Labels");
                    long classes = inference.attrs().getLong("class_number");
                    inference.require(classes >= 1, "class_number must be 1 or more, but is %d", classes);
                    long[] probabilities = inference.dims("MaxProbs");
                    inference.require(probabilities.length == 2, "MaxProbs must have the shape [batch, 1], but has %s",
                            Numbers.text(probabilities));
                    for (String slot : List.of("Indices", "Labels", "Weights")) {
                        if (inference.has(slot)) {
                            Checks.shape(inference, slot, probabilities[0], 1);
                        }
                    }
                    if (inference.has("Weights")) {
                        Checks.floating(inference, "MaxProbs", "Weights");
                    }
                    if (inference.has("StatesInfo")) {
                        Checks.floating(inference, "MaxProbs", "StatesInfo");
                        Checks.shape(inference, "StatesInfo", classes, COUNTERS);
                    }
                    inference.set("BatchMetrics", DType.FLOAT64, METRICS);
                    inference.set("AccumMetrics", DType.FLOAT64, METRICS);
                    inference.set("AccumStatesInfo", inference.dtype("MaxProbs"), classes, COUNTERS);
                }).lower(l -> {
                    int classes = l.attrs().getInt("class_number");
                    List<@Nullable Operand> in = Arrays.asList(l.in("Indices"), l.in("Labels"), l.optional("Weights"),
                            l.optional("StatesInfo"));
                    l.call(TYPE, (given, out) -> {
                        int[] found = Checks.within(TYPE, "Indices", Checks.tensor(given, 0), 0, classes - 1L);
                        int[] labels = Checks.within(TYPE, "Labels", Checks.tensor(given, 1), 0, classes - 1L);
                        Tensor weights = given.get(2);
                        Arithmetic arithmetic = new Arithmetic(Checks.tensor(out, 2).dtype() == DType.FLOAT32);
                        double[] counts = counts(found, labels, weights == null ? null : weights.toDoubleArray(),
                                arithmetic, classes);
                        Elements.write(arithmetic.metrics(counts), Checks.tensor(out, 0));
                        if (given.get(3) != null) {
                            double[] before = Checks.tensor(given, 3).toDoubleArray();
                            Arrays.setAll(counts, i -> arithmetic.rounded(counts[i] + before[i]));
                        }
                        Elements.write(arithmetic.metrics(counts), Checks.tensor(out, 1));
                        Elements.write(counts, Checks.tensor(out, 2));
                    }, in, List.of(l.output("BatchMetrics"), l.output("AccumMetrics"), l.output("AccumStatesInfo")));
                }).register(registry);
    }

    private static double[] counts(int[] found, int[] labels, double @Nullable [] weights,
            Arithmetic arithmetic, int classes) {
        double[] counts = new double[WorkingMemory.length(classes, COUNTERS)];
        for (int i = 0; i < found.length; i++) {
            double weight = weights == null ? 1 : weights[i];
            for (int of = 0; of < classes; of++) {
                boolean positive = of == found[i];
                boolean right = positive == (of == labels[i]);
                int at = of * COUNTERS + (positive ? right ? 0 : 1 : right ? 2 : 3);
                counts[at] = arithmetic.rounded(counts[at] + weight);
            }
        }
        return counts;
    }

    /**
     * Metrics are float64, but Paddle computes them in the type of the counts: so they are rounded after each step.
     *
     * @param single
     *            whether that is float32
     */
    private record Arithmetic(boolean single) {
        double rounded(double value) {
            return single ? (float) value : value;
        }

        double[] metrics(double[] counts) {
            double[] sums = new double[COUNTERS];
            double precision = 0;
            double recall = 0;
            for (int at = 0; at < counts.length; at += COUNTERS) {
                for (int i = 0; i < COUNTERS; i++) {
                    sums[i] = rounded(sums[i] + counts[at + i]);
                }
                precision = rounded(precision + share(counts[at], counts[at + 1]));
                recall = rounded(recall + share(counts[at], counts[at + 3]));
            }
            double classes = counts.length / (double) COUNTERS;
            precision = rounded(precision / classes);
            recall = rounded(recall / classes);
            double all = share(sums[0], sums[1]);
            double allRecall = share(sums[0], sums[3]);
            return new double[]{precision, recall, harmonic(precision, recall), all, allRecall,
                    harmonic(all, allRecall)};
        }

        /** A class that is not there at all counts as recognised. */
        private double share(double right, double wrong) {
            return right > 0 || wrong > 0 ? rounded(right / rounded(right + wrong)) : 1;
        }

        private double harmonic(double precision, double recall) {
            return precision > 0 || recall > 0
                    ? rounded(rounded(2 * precision * recall) / rounded(precision + recall))
                    : 0;
        }
    }
}

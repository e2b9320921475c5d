package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.WorkingMemory;
import java.util.Arrays;

/**
 * The alignments of a sequence of steps to labels in a transducer (Graves, 2012): at each step some labels are emitted,
 * then a blank. They are the paths through a lattice of steps and numbers of emitted labels.
 */
final class TransducerAlignments {
    private final double[] logs;
    private final int at;
    private final int width;
    private final int classes;
    private final int steps;
    private final int[] labels;
    private final int blank;

    /**
     * The lattice of a sequence.
     *
     * @param logs
     *            logarithms of probabilities, [steps, width, classes] from a place on
     */
    TransducerAlignments(double[] logs, int at, int width, int classes, int steps, int[] labels, int blank) {
        this.logs = logs;
        this.at = at;
        this.width = width;
        this.classes = classes;
        this.steps = steps;
        this.labels = labels;
        this.blank = blank;
    }

    private int place(int t, int emitted, int of) {
        return at + (t * width + emitted) * classes + of;
    }

    /**
     * The negative logarithm of the probability of the labels, and its gradient with respect to the logarithms.
     *
     * @param emission
     *            the factor of the gradients of labels: above 1, labels are emitted early (Yu et al., 2021)
     * @param gradient
     *            is written where it is not 0
     */
    double loss(double emission, double[] gradient) {
        double[] forward = forward();
        int columns = labels.length + 1;
        double all = forward[forward.length - 1] + logs[place(steps - 1, labels.length, blank)];
        double[] after = new double[columns];
        Arrays.fill(after, Double.NEGATIVE_INFINITY);
        for (int t = steps - 1; t >= 0; t--) {
            for (int u = labels.length; u >= 0; u--) {
                double here = forward[t * columns + u] - all;
                int ofBlank = place(t, u, blank);
                boolean last = t == steps - 1 && u == labels.length;
                double blankPath = logs[ofBlank] + (last ? 0 : after[u]);
                double sum = blankPath;
                gradient[ofBlank] = -Math.exp(here + blankPath);
                if (u < labels.length) {
                    int ofLabel = place(t, u, labels[u]);
                    double labelPath = logs[ofLabel] + after[u + 1];
                    sum = LogSpace.add(sum, labelPath);
                    gradient[ofLabel] = -emission * Math.exp(here + labelPath);
                }
                after[u] = sum;
            }
        }
        return -all;
    }

    /** For each step and number of emitted labels, the paths that lead there. */
    private double[] forward() {
        int columns = labels.length + 1;
        double[] forward = new double[WorkingMemory.length(steps, columns)];
        for (int t = 0; t < steps; t++) {
            for (int u = 0; u < columns; u++) {
                double sum = t == 0 && u == 0 ? 0 : Double.NEGATIVE_INFINITY;
                if (t > 0) {
                    sum = LogSpace.add(sum, forward[(t - 1) * columns + u] + logs[place(t - 1, u, blank)]);
                }
                if (u > 0) {
                    sum = LogSpace.add(sum, forward[t * columns + u - 1] + logs[place(t, u - 1, labels[u - 1])]);
                }
                forward[t * columns + u] = sum;
            }
        }
        return forward;
    }
}

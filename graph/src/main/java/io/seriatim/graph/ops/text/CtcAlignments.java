package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.WorkingMemory;
import java.util.Arrays;

/**
 * The alignments of a sequence of steps to labels, in connectionist temporal classification (Graves, Fernández, Gomez,
 * Schmidhuber, 2006). A state is a label or one of the blanks around them: an alignment passes through the states in
 * order, skipping blanks at will between labels that differ.
 */
final class CtcAlignments {
    private final double[] logs;
    private final int steps;
    private final int classes;
    private final int[] states;

    private CtcAlignments(double[] logs, int steps, int classes, int[] labels, int blank) {
        this.logs = logs;
        this.steps = steps;
        this.classes = classes;
        states = new int[2 * labels.length + 1];
        Arrays.fill(states, blank);
        for (int i = 0; i < labels.length; i++) {
            states[2 * i + 1] = labels[i];
        }
    }

    /**
     * The negative logarithm of the probability of some labels, and its gradient with respect to the logits.
     *
     * @param logits
     *            one row a step
     * @param at
     *            where the first row begins, in logits and gradient
     * @param stride
     *            from one row to the next
     * @param gradient
     *            is written, or null
     * @return the loss; as in warp-ctc it is 0, without gradient, if there are too few steps for the labels
     */
    static double loss(double[] logits, int at, int stride, int steps, int classes, int[] labels, int blank,
            double[] gradient) {
        int repeated = 0;
        for (int i = 1; i < labels.length; i++) {
            repeated += labels[i] == labels[i - 1] ? 1 : 0;
        }
        if (steps == 0 || labels.length + repeated > steps) {
            return 0;
        }
        double[] logs = new double[WorkingMemory.length(steps, classes)];
        for (int t = 0; t < steps; t++) {
            LogSpace.softmax(logits, at + t * stride, classes, logs, t * classes);
        }
        CtcAlignments alignments = new CtcAlignments(logs, steps, classes, labels, blank);
        double[] forward = alignments.forward();
        int last = forward.length - 1;
        double all = alignments.states.length == 1 ? forward[last] : LogSpace.add(forward[last], forward[last - 1]);
        alignments.gradient(forward, all, gradient, at, stride);
        return -all;
    }

    private boolean canSkipTo(int state) {
        return state % 2 == 1 && state > 1 && states[state] != states[state - 2];
    }

    /** For each step and state, the alignments that end there, the step included. */
    private double[] forward() {
        int count = states.length;
        double[] forward = new double[WorkingMemory.length(steps, count)];
        Arrays.fill(forward, Double.NEGATIVE_INFINITY);
        forward[0] = logs[states[0]];
        if (count > 1) {
            forward[1] = logs[states[1]];
        }
        for (int t = 1; t < steps; t++) {
            int before = (t - 1) * count;
            for (int s = 0; s < count; s++) {
                double sum = forward[before + s];
                if (s > 0) {
                    sum = LogSpace.add(sum, forward[before + s - 1]);
                }
                if (canSkipTo(s)) {
                    sum = LogSpace.add(sum, forward[before + s - 2]);
                }
                forward[t * count + s] = sum + logs[t * classes + states[s]];
            }
        }
        return forward;
    }

    private void gradient(double[] forward, double all, double[] gradient, int at, int stride) {
        int count = states.length;
        double[] backward = new double[count];
        Arrays.fill(backward, Double.NEGATIVE_INFINITY);
        backward[count - 1] = 0;
        if (count > 1) {
            backward[count - 2] = 0;
        }
        for (int t = steps - 1; t >= 0; t--) {
            int row = at + t * stride;
            for (int k = 0; k < classes; k++) {
                gradient[row + k] = Math.exp(logs[t * classes + k]);
            }
            for (int s = 0; s < count; s++) {
                gradient[row + states[s]] -= Math.exp(forward[t * count + s] + backward[s] - all);
            }
            if (t > 0) {
                stepBack(backward, t);
            }
        }
    }

    /** From the alignments that continue after a step to those that continue after the one before. */
    private void stepBack(double[] backward, int t) {
        int count = states.length;
        for (int s = 0; s < count; s++) {
            backward[s] += logs[t * classes + states[s]];
        }
        for (int s = 0; s < count; s++) {
            double sum = backward[s];
            if (s + 1 < count) {
                sum = LogSpace.add(sum, backward[s + 1]);
            }
            if (s + 2 < count && canSkipTo(s + 2)) {
                sum = LogSpace.add(sum, backward[s + 2]);
            }
            backward[s] = sum;
        }
    }
}

package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.WorkingMemory;
import java.util.Arrays;

/**
 * The best tags of a sequence by the sums of their weights (Viterbi, 1967). Of equally good tags, the first. Single
 * precision is added in single precision, since rounding decides which paths are equally good.
 */
final class BestPath {
    private final int tags;
    private final boolean single;
    private final double[] transitions;
    private final int transitionsAt;
    private final double[] first;
    private final double[] last;

    /**
     * Weights.
     *
     * @param single
     *            whether they are of single precision
     * @param transitions
     *            from tag to tag, [tags, tags] from a place on
     * @param first
     *            of the first tag
     * @param last
     *            of the last tag
     */
    BestPath(int tags, boolean single, double[] transitions, int transitionsAt, double[] first, double[] last) {
        this.tags = tags;
        this.single = single;
        this.transitions = transitions;
        this.transitionsAt = transitionsAt;
        this.first = first;
        this.last = last;
    }

    private double sum(double a, double b) {
        return single ? (float) a + (float) b : a + b;
    }

    /**
     * Finds it.
     *
     * @param emissions
     *            weights, one row a step
     * @param begin
     *            where the first row begins
     * @param length
     *            how many rows, 1 or more
     * @param path
     *            is written
     * @param at
     *            where its first tag goes
     * @return its weight
     */
    double find(double[] emissions, int begin, int length, long[] path, int at) {
        double[] scores = new double[tags];
        double[] before = new double[tags];
        int[] from = new int[WorkingMemory.length(length, tags)];
        for (int i = 0; i < tags; i++) {
            scores[i] = sum(emissions[begin + i], first[i]);
        }
        for (int k = 1; k < length; k++) {
            double[] swap = before;
            before = scores;
            scores = swap;
            for (int i = 0; i < tags; i++) {
                double best = Double.NEGATIVE_INFINITY;
                int tag = 0;
                for (int j = 0; j < tags; j++) {
                    double score = sum(before[j], transitions[transitionsAt + j * tags + i]);
                    if (score > best) {
                        best = score;
                        tag = j;
                    }
                }
                scores[i] = sum(best, emissions[begin + k * tags + i]);
                from[k * tags + i] = tag;
            }
        }
        for (int i = 0; i < tags; i++) {
            scores[i] = sum(scores[i], last[i]);
        }
        int tag = best(scores);
        double weight = scores[tag];
        for (int k = length - 1; k >= 0; k--) {
            path[at + k] = tag;
            tag = from[k * tags + tag];
        }
        return weight;
    }

    /** The weight of the best tag where there is no step at all. */
    double ofNothing(double[] emissions, int begin) {
        double[] scores = new double[tags];
        Arrays.setAll(scores, i -> sum(emissions[begin + i], first[i]));
        return scores[best(scores)];
    }

    private static int best(double[] scores) {
        int best = 0;
        for (int i = 1; i < scores.length; i++) {
            best = scores[i] > scores[best] ? i : best;
        }
        return best;
    }
}

package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.WorkingMemory;
/**
 * A linear chain of tags, a conditional random field (Lafferty, McCallum, Pereira, 2001). Of the transition weights,
 * the first row is those of the first tag, the second those of the last; then comes a row for each tag, with the
 * weights of the tags that follow it.
 */
final class TagChain {
    private static final int FIRST = 2;

    private final int tags;
    private final double[] weights;
    private final double[] factors;

    /**
     * A chain.
     *
     * @param weights
     *            of the transitions, [tags + 2, tags]
     * @param factors
     *            their exponentials
     */
    TagChain(int tags, double[] weights, double[] factors) {
        this.tags = tags;
        this.weights = weights;
        this.factors = factors;
    }

    /** Scales some numbers so that their sum is 1, and returns what it was. */
    private double normalise(double[] values, int row) {
        double sum = 0;
        for (int i = 0; i < tags; i++) {
            sum += values[row * tags + i];
        }
        if (!(sum > 0)) {
            throw new IllegalArgumentException(
                    "Operation 'linear_chain_crf': the weights of all tags at row " + row
                            + " must have a sum above 0, but it is " + sum);
        }
        for (int i = 0; i < tags; i++) {
            values[row * tags + i] /= sum;
        }
        return sum;
    }

    /**
     * The negative logarithm of the probability of the labels.
     *
     * @param emissions
     *            one row of weights a step
     * @param exponentials
     *            of the weights less the largest of their row
     * @param begin
     *            the first row of the sequence
     * @param alpha
     *            is written: for each row, how probable its tags are after the rows before
     */
    double loss(double[] emissions, double[] exponentials, int begin, int length, int[] labels, double[] alpha) {
        double logarithm = 0;
        for (int k = begin; k < begin + length; k++) {
            for (int i = 0; i < tags; i++) {
                alpha[k * tags + i] = exponentials[k * tags + i]
                        * (k == begin ? factors[i] : into(alpha, (k - 1) * tags, i));
            }
            logarithm += largest(emissions, k) + Math.log(normalise(alpha, k));
        }
        int last = begin + length - 1;
        double ends = 0;
        for (int i = 0; i < tags; i++) {
            ends += alpha[last * tags + i] * factors[tags + i];
        }
        return logarithm + Math.log(ends) - score(emissions, begin, length, labels);
    }

    private double largest(double[] emissions, int row) {
        double largest = emissions[row * tags];
        for (int i = 1; i < tags; i++) {
            largest = Math.max(largest, emissions[row * tags + i]);
        }
        return largest;
    }

    private double into(double[] alpha, int row, int tag) {
        double sum = 0;
        for (int j = 0; j < tags; j++) {
            sum += alpha[row + j] * factors[(j + FIRST) * tags + tag];
        }
        return sum;
    }

    private double score(double[] emissions, int begin, int length, int[] labels) {
        double score = weights[labels[begin]] + weights[tags + labels[begin + length - 1]];
        for (int k = begin; k < begin + length; k++) {
            score += emissions[k * tags + labels[k]]
                    + (k == begin ? 0 : weights[(labels[k - 1] + FIRST) * tags + labels[k]]);
        }
        return score;
    }

    /**
     * The gradients of the loss.
     *
     * @param exponentials
     *            as for the loss
     * @param alpha
     *            what it has written
     * @param scale
     *            the gradient of the result
     * @param ofEmissions
     *            is written in the rows of the sequence
     * @param ofWeights
     *            is added to
     */
    void gradient(double[] exponentials, double[] alpha, int begin, int length, int[] labels, double scale,
            double[] ofEmissions, double[] ofWeights) {
        double[] beta = backward(exponentials, begin, length);
        for (int k = begin; k < begin + length; k++) {
            double sum = 0;
            for (int i = 0; i < tags; i++) {
                sum += alpha[k * tags + i] * beta[(k - begin) * tags + i];
            }
            for (int i = 0; i < tags; i++) {
                ofEmissions[k * tags + i] = scale * alpha[k * tags + i] * beta[(k - begin) * tags + i] / sum;
            }
            ofEmissions[k * tags + labels[k]] -= scale;
            if (k > begin) {
                ofTransitions(exponentials, alpha, beta, begin, k, labels, scale, ofWeights);
            }
        }
        int last = begin + length - 1;
        for (int i = 0; i < tags; i++) {
            ofWeights[i] += ofEmissions[begin * tags + i];
            ofWeights[tags + i] += ofEmissions[last * tags + i];
        }
    }

    /** For each row and tag, how probable the rows after it are. */
    private double[] backward(double[] exponentials, int begin, int length) {
        double[] beta = new double[WorkingMemory.length(length, tags)];
        for (int k = length - 1; k >= 0; k--) {
            for (int i = 0; i < tags; i++) {
                double sum = k == length - 1 ? factors[tags + i] : 0;
                for (int j = 0; k < length - 1 && j < tags; j++) {
                    sum += factors[(i + FIRST) * tags + j] * exponentials[(begin + k + 1) * tags + j]
                            * beta[(k + 1) * tags + j];
                }
                beta[k * tags + i] = sum;
            }
            normalise(beta, k);
        }
        return beta;
    }

    private void ofTransitions(double[] exponentials, double[] alpha, double[] beta, int begin, int k, int[] labels,
            double scale, double[] ofWeights) {
        double[] pairs = new double[WorkingMemory.length(tags, tags)];
        double sum = 0;
        for (int i = 0; i < tags; i++) {
            for (int j = 0; j < tags; j++) {
                double pair = factors[(i + FIRST) * tags + j] * alpha[(k - 1) * tags + i]
                        * exponentials[k * tags + j] * beta[(k - begin) * tags + j];
                pairs[i * tags + j] = pair;
                sum += pair;
            }
        }
        for (int i = 0; i < pairs.length; i++) {
            ofWeights[FIRST * tags + i] += scale * pairs[i] / sum;
        }
        ofWeights[(labels[k - 1] + FIRST) * tags + labels[k]] -= scale;
    }
}

package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.Tensor;
import java.util.function.DoubleSupplier;

/** Draws categories by their weights: with replacement, or each at most once. */
final class Categories {
    private final double[] weights;
    private final double[] sums;

    private Categories(int count) {
        weights = new double[WorkingMemory.length(count)];
        sums = new double[count];
    }

    /** For each row of x, as many categories as are wanted; each takes one number evenly from 0 to below 1. */
    static void sample(Tensor x, int samples, boolean replacement, DoubleSupplier uniform, Tensor out) {
        double[] values = x.toDoubleArray();
        int count = Math.toIntExact(x.shape().dim(-1));
        long[] chosen = new long[WorkingMemory.length(out.shape().size())];
        Categories categories = new Categories(count);
        for (int row = 0; row * samples < chosen.length; row++) {
            System.arraycopy(values, row * count, categories.weights, 0, count);
            categories.require(samples, replacement);
            for (int i = 0; i < samples; i++) {
                int category = categories.find(uniform.getAsDouble());
                chosen[row * samples + i] = category;
                if (!replacement) {
                    categories.weights[category] = 0;
                    categories.sum();
                }
            }
        }
        Elements.write(chosen, out);
    }

    private void require(int samples, boolean replacement) {
        int possible = 0;
        for (double weight : weights) {
            if (!(weight >= 0) || Double.isInfinite(weight)) {
                throw new IllegalArgumentException(
                        "multinomial: the weights in X must be 0 or more, but one is " + weight);
            }
            possible += weight > 0 ? 1 : 0;
        }
        if (possible == 0 || (!replacement && possible < samples)) {
            throw new IllegalArgumentException(
                    "multinomial: " + samples + " samples " + (replacement ? "" : "without replacement ") + "need "
                            + (replacement ? 1 : samples) + " categories of a weight above 0, but there are "
                            + possible);
        }
        sum();
    }

    private void sum() {
        double sum = 0;
        for (int i = 0; i < weights.length; i++) {
            sum += weights[i];
            sums[i] = sum;
        }
    }

    /** The first category up to which the weights are no less than a part of all. */
    private int find(double part) {
        double wanted = part * sums[sums.length - 1];
        int category = 0;
        while (weights[category] == 0 || sums[category] < wanted) {
            category++;
        }
        return category;
    }
}

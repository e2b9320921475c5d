package io.seriatim.benchmarks.models;

import io.seriatim.tensor.Tensor;
import java.util.List;

/** Compares the results of two systems. */
final class Differences {
    private Differences() {
    }

    /**
     * Returns the largest difference relative to the largest value of the same output; infinite if shapes differ or
     * only one of two values is a number.
     */
    static double largest(List<Tensor> ours, List<Tensor> theirs) {
        if (ours.size() != theirs.size()) {
            return Double.POSITIVE_INFINITY;
        }
        double largest = 0;
        for (int i = 0; i < ours.size(); i++) {
            largest = Math.max(largest, ours.get(i).shape().equals(theirs.get(i).shape())
                    ? of(ours.get(i).toDoubleArray(), theirs.get(i).toDoubleArray())
                    : Double.POSITIVE_INFINITY);
        }
        return largest;
    }

    static double of(double[] ours, double[] theirs) {
        double largest = 0;
        double scale = Double.MIN_NORMAL;
        for (int i = 0; i < ours.length; i++) {
            if (Double.compare(ours[i], theirs[i]) != 0 && ours[i] != theirs[i]) {
                double difference = Math.abs(ours[i] - theirs[i]);
                largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
            }
            if (Double.isFinite(theirs[i])) {
                scale = Math.max(scale, Math.abs(theirs[i]));
            }
        }
        return largest / scale;
    }
}
